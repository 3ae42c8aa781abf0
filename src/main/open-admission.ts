import type { Config } from '../config/config.js'
import { isLoopback } from '../config/sections/listen-address.js'
import { makeAdmission } from '../http/pipeline/admit-request.js'
import type { Admission } from '../http/pipeline/admit-request.js'
import { makeIsKnownHost } from '../http/pipeline/known-hosts.js'

/**
 * Which requests are let in. Without tokens a service on loopback answers to its own names only; beyond loopback nobody can say by which
 * names of a cluster it is asked, so that there the list must be configured.
 */
export function openAdmission({ server, auth }: Config, listenHost: string): Admission {
  const { publicUrl, orchestratorUrl, allowedHosts } = server
  const urls = [publicUrl, orchestratorUrl].filter((url) => url !== undefined)
  const hasTokens = auth.tokens.length > 0
  return makeAdmission({
    isKnownHost: makeIsKnownHost({ listenHost, urls, allowedHosts }),
    needsKnownHost: allowedHosts.length > 0 || (!hasTokens && isLoopback(listenHost)),
    isOpen: !hasTokens || auth.openToOrchestrator,
    publicUrl,
  })
}
