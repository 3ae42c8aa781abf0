import type { Config } from '../../config/config.js'
import { hostOfAddress, isLocalAddress } from '../../config/sections/listen-address.js'
import type { ListenAddress } from '../../config/sections/listen-address.js'
import { makeAdmission, makeIsKnownHost } from '../../http/pipeline/admit-request.js'
import type { Admission } from '../../http/pipeline/admit-request.js'

/**
 * Which requests are let in at an address. Without tokens a service on loopback answers to its own names only; beyond loopback nobody can say by which
 * names of a cluster it is asked, so that there the list must be configured.
 */
export function openAdmission({ server, auth }: Config, address: ListenAddress): Admission {
  const { publicUrl, orchestratorUrl, allowedHosts } = server
  const urls = [publicUrl, orchestratorUrl].filter((url) => url !== undefined)
  const hasCertificates = auth.certificates.length > 0
  const asksForCredentials = auth.tokens.length > 0 || hasCertificates
  return makeAdmission({
    isKnownHost: makeIsKnownHost({ listenHost: hostOfAddress(address), urls, allowedHosts }),
    needsKnownHost: allowedHosts.length > 0 || (!asksForCredentials && isLocalAddress(address)),
    // A browser shows a certificate of its own accord, whichever page asks.
    isOpen: !asksForCredentials || hasCertificates || auth.openToOrchestrator,
    publicUrl,
  })
}
