import { servedAddresses } from '../config/sections/served-addresses.js'
import { numberOfName } from '../gates/definitions/pipeline-numbers.js'
import type { Authenticate } from '../http/pipeline/authenticate.js'
import type { RoutesDeps } from '../http/route-lists.js'
import { BrowserAccess, randomToken } from '../http/sessions/browser-access.js'
import { MemorySessions } from '../http/sessions/memory-sessions.js'
import { makePassedTime } from '../lib/clocks/passed-time.js'
import { runtimePolicies } from '../rego/index.js'
import type { ServedParts } from './served-parts.js'

/** The name of the secret that the forms of all services hold where nobody signs in. */
const FORM_TOKEN = 'form-token'

/** Lets people in browsers in: those that any of the services that share a store has let in. */
export async function openBrowserAccess(
  { config: { auth, server }, store }: ServedParts,
  authenticate: Authenticate,
): Promise<BrowserAccess> {
  const isSecure =
    server.publicUrl?.toLowerCase().startsWith('https:') ?? servedAddresses(server)[0]?.isTls === true
  return new BrowserAccess({
    tokens: auth.tokens,
    takesCertificates: auth.certificates.length > 0,
    isSecure,
    authenticate,
    sessions: store.sharing?.sessions ?? new MemorySessions(makePassedTime()),
    formToken: (await store.sharing?.secret(FORM_TOKEN, randomToken)) ?? randomToken(),
  })
}

/** What the pages show. */
export function pageRoutes(
  { config: { server }, gates, analysis, policies }: ServedParts,
  shown: Pick<RoutesDeps['pages'], 'browsers' | 'timeline' | 'decisions'>,
): RoutesDeps['pages'] {
  const prefix = server.publicUrl === undefined ? '' : new URL(server.publicUrl).pathname.replace(/\/+$/, '')
  return {
    ...shown,
    ...{ policies, gates: gates.routes, analysis: analysis.routes },
    page: { frameAncestors: server.frameAncestors, prefix },
  }
}

/** What the forms of stages offer. */
export function formRoutes({ config, store, policies, registry, gates }: ServedParts): RoutesDeps['forms'] {
  const { auth, connectors, policies: asked } = config
  const { reader, writer, now } = store
  return {
    ...{ reader, writer, now, maxBodyBytes: config.server.maxBodyBytes, numbers: registry.numbers },
    accounts: connectors.accounts,
    groups: [...new Set([...auth.tokens, ...auth.certificates].flatMap(({ groups }) => groups))].sort(),
    environments: config.gates.environments,
    makesGates: gates.routes.makesGates,
    runtimePolicies: () =>
      runtimePolicies(policies.current, asked).map((path) => ({ path, id: numberOfName(path) })),
  }
}
