import type { Config } from '../config/config.js'
import type { ReadSecret } from '../config/values/secret.js'
import type { Exchange } from '../http/exchange/exchange.js'
import type { FindPerson } from '../http/pipeline/authenticate.js'
import type { ProviderAccess } from '../http/sessions/browser-access.js'
import { makeOutboundClient } from '../lib/outbound/outbound-client.js'
import type { Logger } from '../lib/logger.js'
import { foldedName } from '../lib/text/same-person.js'
import { CALLBACK_PATH, SIGNED_OUT_PATH } from '../http/sign-on/account.js'
import type { AccountRules } from '../http/sign-on/account.js'
import type { Provider } from '../http/sign-on/provider.js'
import { readPem } from './files/read-pem.js'
import type { BrowserSessions } from '../store/ports/browser-sessions.js'

export interface SignOnParts {
  readonly logger: Logger
  /** Undefined in worker processes, which verify tokens only. */
  readonly readSecret?: ReadSecret
  readonly now: () => number
}

/** Accounts of people elsewhere: at an identity provider, or behind a proxy. */
export interface SignOn {
  /** Undefined if nobody has an account elsewhere. */
  readonly findPerson: FindPerson | undefined
  /** Whether a trusted proxy names the person who sends a request. */
  readonly isProxied: (exchange: Exchange) => boolean
  /** Returns the sign-in of browsers; undefined without an identity provider. */
  readonly access: (sessions: BrowserSessions) => ProviderAccess | undefined
  /** Closes the connections to the identity provider. */
  readonly close: () => Promise<void>
}

const NOBODY: SignOn = {
  findPerson: undefined,
  isProxied: () => false,
  access: () => undefined,
  close: () => Promise.resolve(),
}

/**
 * Opens the sign-in at the identity provider and the headers of a proxy, as configured. Sends no
 * request before the first sign-in.
 */
export async function openSignOn(config: Config, parts: SignOnParts): Promise<SignOn> {
  const { oidc, proxy, tokens, certificates } = config.auth
  if (oidc === undefined && proxy === undefined) return NOBODY
  const reserved = new Set([...tokens, ...certificates].map(({ name }) => foldedName(name)))
  const ca = readPem('auth.oidc.tlsCa', oidc?.tlsCa)
  const client = makeOutboundClient({ allowLoopback: true, allowPrivate: true }, { ca })
  const [{ makeFindPerson, makeFindProxied }, { AccountSessions }, provider] = await Promise.all([
    import('../http/sign-on/find-person.js'),
    import('../http/sign-on/account-sessions.js'),
    oidc && openProvider(oidc, config, client, parts.readSecret),
  ])
  const proxyRules = proxy && { ...proxy, reserved }
  const findProxied = proxyRules && makeFindProxied(proxyRules)
  const audience = oidc?.audience
  const verifies = provider && oidc && audience !== undefined
  return {
    findPerson: makeFindPerson(
      proxyRules,
      verifies
        ? {
            roles: oidc.roles,
            reserved,
            claims: oidc,
            verify: (token) => provider.verifyToken(token, audience),
          }
        : undefined,
    ),
    close: client.close,
    isProxied: (exchange) => findProxied?.(exchange) !== undefined,
    access: (sessions) => {
      if (oidc === undefined || provider === undefined) return undefined
      const rules: AccountRules = { roles: oidc.roles, reserved }
      const notRenewed: ConstructorParameters<typeof AccountSessions>[0]['notRenewed'] = (error) =>
        parts.logger.warn({ error: error.message }, 'a sign-in was not renewed; the session continues')
      const accounts = new AccountSessions({ provider, sessions, claims: oidc, now: parts.now, notRenewed })
      return { provider, accounts, rules, label: oidc.label, approvalAcr: oidc.approvalAcr }
    },
  }
}

async function openProvider(
  oidc: NonNullable<Config['auth']['oidc']>,
  { server }: Config,
  client: ReturnType<typeof makeOutboundClient>,
  readSecret: ReadSecret | undefined,
): Promise<Provider> {
  const publicUrl = (server.publicUrl ?? '').replace(/\/+$/, '')
  const { Provider: OpenIdProvider } = await import('../http/sign-on/provider.js')
  return new OpenIdProvider({
    ...oidc,
    clientSecret: oidc.clientSecret && readSecret?.(oidc.clientSecret).reveal(),
    redirectUri: `${publicUrl}${CALLBACK_PATH}`,
    signedOutUri: `${publicUrl}${SIGNED_OUT_PATH}`,
    client,
  })
}
