import type { Config } from '../../config/config.js'
import { checkTls, readTlsFiles } from '../../main/files/tls-files.js'
import { localTime } from '../output/local-time.js'
import { attempt, bad, ok, warning } from './finding.js'
import type { Finding } from './finding.js'

const MS_PER_DAY = 86_400_000
const SOON_DAYS = 14
const LIST_ADVICE = 'fetch the new one to server.tlsClientCrl: certificates of its authority are refused'
const ADVICE = 'renew it: the service reads the files again by itself'

/** Looks at the certificate of a configuration; nothing where it names none. */
export async function lookAtCertificate(config: Config): Promise<Finding[]> {
  if (config.server.tlsCertificate === undefined) return []
  const finding = await attempt('certificate', 'name files that belong together', () => {
    const settings = readTlsFiles(config)
    if (settings === undefined) return bad('certificate', 'it has no key', 'set server.tlsKey')
    const { startsAtMs, endsAtMs, listEndsAtMs = Infinity } = checkTls(settings, config)
    const now = Date.now()
    const end = localTime(endsAtMs)
    if (now >= endsAtMs) return bad('certificate', `it has ended on ${end}`, ADVICE)
    if (now < startsAtMs) return bad('certificate', `it begins on ${localTime(startsAtMs)}`, ADVICE)
    if (now >= listEndsAtMs)
      return bad('certificate', `a revocation list has ended on ${localTime(listEndsAtMs)}`, LIST_ADVICE)
    if (endsAtMs - now < SOON_DAYS * MS_PER_DAY) return warning('certificate', `it ends on ${end}`, ADVICE)
    return ok('certificate', `it is good until ${end}`)
  })
  return [finding]
}
