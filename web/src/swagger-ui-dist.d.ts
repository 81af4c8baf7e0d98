declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Options {
    readonly dom_id: string
    readonly spec: object
    readonly deepLinking: boolean
    readonly defaultModelsExpandDepth: number
    readonly docExpansion: 'list' | 'full' | 'none'
    readonly filter: boolean
    readonly validatorUrl: string | null
  }
  export default function SwaggerUI(options: Options): unknown
}
