import type { BodyDescription } from '../input/body-reader.js'
import type { RouteDescription, RouteList } from '../pipeline/route.js'
import { ERROR_RESPONSES, ERROR_SCHEMA, responsesOf } from './answers.js'
import { jsonSchema, parametersOf, pathTemplate } from './parameters.js'
import type { Config } from '../../config/config.js'

/** What a description of the API says beside the routes. */
export interface OpenApiOptions {
  readonly version: string
  /** Where the service is reached; relative to the document itself where it is not known. */
  readonly publicUrl?: string | undefined
  /** How the service speaks TLS itself; undefined where it does not. */
  readonly tls?: OpenApiTls | undefined
}

/** What callers need to know of the TLS of a service. */
export interface OpenApiTls {
  /** The oldest version, `1.2`. */
  readonly minVersion: string
  /** Whether callers may show a certificate in place of a token, and whether each must. */
  readonly certificates: 'none' | 'taken' | 'required'
}

const DESCRIPTION = `Policy decisions, approval gates, audit and canary analysis beside a continuous-delivery orchestrator.

Every answer has \`X-Request-Id\`. GET routes answer HEAD, too, but for those below /v1/data. Other methods of a path are a 405 with \`Allow\`.
Repeated and trailing slashes in a path are ignored. A route names the roles whose tokens may ask it (\`x-roles\`); an admin may wherever anybody may.
A service without tokens asks for none.

Errors are \`Error\`: one line where people are shown the body as it is, else indented. A policy that denies is no error: it answers 401, as the orchestrator's
plugins read it, with \`status\`, \`message\` and \`deny\`; a missing or wrong credential is 403 there, and 401 elsewhere. Every 503 has \`Retry-After\`.`

const CERTIFICATE = {
  type: 'mutualTLS',
  description:
    'A certificate that an authority of `server.tlsClientCa` has signed and that is in `auth.certificates`, in place of a token; the role that it needs stands beside the name of the scheme. A token that is sent, too, counts before it.',
}

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token of `auth.tokens`; the role that it needs stands beside the name of the scheme. With `auth.openToOrchestrator` a request without a token may do what the role orchestrator may.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'tidegate_session',
    description: 'What a browser holds that has signed in; by TLS `__Host-tidegate_session`.',
  },
  gitlabToken: { type: 'apiKey', in: 'header', name: 'X-Gitlab-Token' },
  githubSignature: { type: 'apiKey', in: 'header', name: 'X-Hub-Signature-256' },
  bitbucketSignature: { type: 'apiKey', in: 'header', name: 'X-Hub-Signature' },
}

/** The OpenAPI 3.1 document of the routes in some lists. */
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
    none: 'without certificates of callers',
    taken: 'callers may show a certificate',
    required: 'every caller shows a certificate, or is sent away before it asks',
  }
  return `By TLS ${minVersion} or newer: ${whose[certificates]}.`
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

/** Each alternative is one role: a token or a certificate needs any of them. The link of a report is itself the credential, which OpenAPI has no word for. */
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
  isOptional,
}: BodyDescription): object {
  const content = { schema: jsonSchema(schema) }
  return {
    ...(description !== undefined && { description }),
    ...(isOptional !== true && { required: true }),
    content: Object.fromEntries(types.map((type) => [type, content])) as object,
  }
}

/** `getAuditBySeq`: no two routes have the same. */
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

/** What the document says of a service with this configuration. */
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
