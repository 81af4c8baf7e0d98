import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'

const SERVICE = new URL('..', window.location.href) // the service may be mounted below a path

const isDark = window.matchMedia('(prefers-color-scheme: dark)').matches
document.documentElement.classList.toggle('dark-mode', isDark) // Swagger UI's own

const answer = await fetch(new URL('openapi.json', SERVICE))
const specification: { readonly paths: Readonly<Record<string, object>> } = await answer.json()
SwaggerUI({
  dom_id: '#reference',
  spec: { ...specification, paths: below(SERVICE.pathname, specification.paths) },
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  docExpansion: 'list',
  filter: true,
  validatorUrl: null, // no request to Swagger's public validator
})

/** The paths prefixed with the folder that the service is mounted below. */
function below(folder: string, paths: Readonly<Record<string, object>>): Record<string, object> {
  const named = Object.entries(paths).map(([path, methods]) => [`${folder}${path.slice(1)}`, methods])
  return Object.fromEntries(named)
}
