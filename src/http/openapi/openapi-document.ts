import type { BodyDescription } from '../input/body-reader.js'
import type { RouteDescription, RouteList } from '../pipeline/route.js'
import {
  ERROR_RESPONSES,
  ERROR_SCHEMA,
  responsesOf,
  jsonSchema,
  parametersOf,
  pathTemplate,
} from './parameters.js'
import type { Config } from '../../config/config.js'

/** Properties of the service in the OpenAPI document. */
export interface OpenApiOptions {
  readonly version: string
  /** Base URL of the service. The server URL is relative if it is undefined. */
  readonly publicUrl?: string | undefined
  /** TLS of the service itself; undefined if it has none. */
  readonly tls?: OpenApiTls | undefined
}

/** TLS requirements for clients. */
export interface OpenApiTls {
  /** Minimum version, such as `1.2`. */
  readonly minVersion: string
  /** Whether clients may or must present a certificate. */
  readonly certificates: 'none' | 'taken' | 'required'
}

const DESCRIPTION = `Policy decisions, approval gates, audit and canary analysis for a continuous-delivery orchestrator.

Every response has \`X-Request-Id\`. GET routes accept HEAD, except for those under /v1/data. Other methods of a path return 405 with \`Allow\`.
Repeated and trailing slashes in a path are ignored. \`x-roles\` lists the roles with access to a route; admins have access to every open route.
A service without configured tokens requires none.

Errors have the schema \`Error\`. They are a single line for clients that show bodies verbatim, and indented otherwise. A denial by a policy is no error:
as the orchestrator's plugins expect, it is 401 with \`status\`, \`message\` and \`deny\`. A missing or wrong credential is 403 on these routes, and 401 elsewhere.
Every 503 has \`Retry-After\`.`

const CERTIFICATE = {
  type: 'mutualTLS',
  description:
    'A client certificate from `server.tlsClientCa` that is listed in `auth.certificates`, instead of a token. The required role follows the scheme name. A token takes precedence.',
}

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token of `auth.tokens`; the required role follows the scheme name. With `auth.openToOrchestrator`, requests without a token have the role `orchestrator`.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'tidegate_session',
    description: 'Session of a signed-in browser; `__Host-tidegate_session` over TLS.',
  },
  gitlabToken: { type: 'apiKey', in: 'header', name: 'X-Gitlab-Token' },
  githubSignature: { type: 'apiKey', in: 'header', name: 'X-Hub-Signature-256' },
  bitbucketSignature: { type: 'apiKey', in: 'header', name: 'X-Hub-Signature' },
}

/** Returns the OpenAPI 3.1 document of the routes. */
export function openApiDocument(lists: readonly RouteList[], options: OpenApiOptions): object {
  const { version, publicUrl, tls } = options
  const takesCertificates = tls !== undefined && tls.certificates !== 'none'
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tidegate',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl?.replace(/\/+$/, '') ?? '/', ...(tls && { description: tlsText(tls) }) }],
    tags: [...new Set(lists.map(({ feature }) => feature))].map((name) => ({ name })),
    paths: pathsOf(lists, takesCertificates),
    components: {
      schemas: { Error: ERROR_SCHEMA },
      responses: ERROR_RESPONSES,
      securitySchemes: { ...SECURITY_SCHEMES, ...(takesCertificates && { certificate: CERTIFICATE }) },
    },
  }
}

function tlsText({ minVersion, certificates }: OpenApiTls): string {
  const whose = {
    none: 'no client certificates',
    taken: 'clients may present a certificate',
    required: 'every client must present a certificate',
  }
  return `TLS ${minVersion} or newer: ${whose[certificates]}.`
}

function pathsOf(lists: readonly RouteList[], takesCertificates: boolean): object {
  const paths = new Map<string, Record<string, object>>()
  for (const { feature, routes } of lists) {
    for (const row of routes) {
      const path = pathTemplate(row.path)
      const item = paths.get(path) ?? {}
      paths.set(path, item)
      item[row.method.toLowerCase()] = operationOf(feature, row, takesCertificates)
    }
  }
  return Object.fromEntries(paths)
}

function operationOf(feature: string, row: RouteDescription, takesCertificates: boolean): object {
  const { summary, roles, credential, body } = row
  const parameters = parametersOf(row)
  return {
    operationId: operationId(row),
    summary,
    tags: [feature],
    'x-roles': roles === 'anyone' ? ['anyone'] : rolesOf(row),
    ...(credential !== undefined && { 'x-credential': credential.name }),
    security: securityOf(row, takesCertificates),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: requestBody(body) }),
    responses: responsesOf(row),
  }
}

/**
 * Returns the alternative credentials of a route, one per role. OpenAPI has no scheme for a report
 * link, which is itself the credential.
 */
function securityOf(row: RouteDescription, takesCertificates: boolean): readonly object[] {
  if (row.credential !== undefined && row.credential.name !== 'reportLink')
    return [{ [row.credential.name]: [] }]
  const schemes = takesCertificates ? ['bearer', 'certificate'] : ['bearer']
  const bearers = schemes.flatMap((scheme) => rolesOf(row).map((role) => ({ [scheme]: [role] })))
  return row.isPage === true && bearers.length > 0 ? [...bearers, { session: [] }] : bearers
}

function rolesOf({ roles = [] }: RouteDescription): readonly string[] {
  if (roles === 'anyone' || roles.length === 0) return []
  return [...new Set([...roles, 'admin'])]
}

function requestBody({
  description,
  schema,
  types = ['application/json'],
  binaryTypes = [],
  isOptional,
}: BodyDescription): object {
  const content = { schema: jsonSchema(schema) }
  return {
    ...(description !== undefined && { description }),
    ...(isOptional !== true && { required: true }),
    content: Object.fromEntries([
      ...types.map((type) => [type, content] as const),
      ...binaryTypes.map((type) => [type, { schema: {} }] as const),
    ]) as object,
  }
}

/** Returns a unique id such as `getAuditBySeq`. */
function operationId({ method, path }: RouteDescription): string {
  const words = path.split('/').flatMap((segment) => {
    if (segment === '*') return ['below']
    return segment.startsWith(':') ? ['by', segment.slice(1)] : segment.split(/\W+/)
  })
  const name = words
    .filter((word) => word !== '')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
  return `${method.toLowerCase()}${name.join('') || 'Root'}`
}

/** Returns the document's properties for a configuration. */
export function openApiOptions(version: string, server: Config['server']): OpenApiOptions {
  return { version, publicUrl: server.publicUrl, tls: tlsOf(server) }
}

function tlsOf({
  tlsCertificate,
  tlsClientCa,
  tlsRequireClient,
  tlsMinVersion,
}: Config['server']): OpenApiTls | undefined {
  if (tlsCertificate === undefined) return undefined
  const certificates = tlsClientCa === undefined ? 'none' : tlsRequireClient ? 'required' : 'taken'
  return { minVersion: tlsMinVersion, certificates }
}
