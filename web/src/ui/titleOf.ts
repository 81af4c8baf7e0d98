/** The button with a node's name on its card; null if the node is not drawn. */
export function titleOf(node: string): HTMLElement | null {
  return document.querySelector(`[data-node-id="${CSS.escape(node)}"] .card-title`)
}
