import type { CheckRevocation } from '../../exchange/client-certificate.js'
import { readRevocationLists, revocationProblem } from './revocation-lists.js'
import type { RevocationList } from './revocation-lists.js'
import type { TlsSettings } from './tls-settings.js'

/** Checks certificates at every request by the lists that count then: a connection may be older than the list that revokes its certificate. */
export function makeCheckRevocation(settingsOf: () => TlsSettings | undefined): CheckRevocation {
  let text: string | undefined
  let lists: readonly RevocationList[] = []
  return (certificate, nowMs) => {
    const clientCrl = settingsOf()?.clientCrl
    if (clientCrl === undefined) return undefined
    if (clientCrl !== text) {
      lists = readRevocationLists(clientCrl)
      text = clientCrl
    }
    return revocationProblem(lists, certificate, nowMs)
  }
}
