import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../decisions.js'

/** An authority, and a certificate that it signed for 127.0.0.1 with its key; PEM texts. */
interface TestCertificates {
  readonly ca: string
  readonly certificate: string
  readonly key: string
}

const DAYS = '2'

/**
 * Makes an authority of its own with `openssl`, and a certificate for a name such as
 * `IP:127.0.0.1`.
 */
export function makeCertificates(subject: string): TestCertificates {
  const folder = temporaryFolder()
  const path = (name: string): string => join(folder, name)
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-days',
    DAYS,
    '-subj',
    '/CN=test authority',
  )
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=database')
  writeFileSync(path('names'), `subjectAltName=${subject}`)
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'server.csr', ...signing, '-out', 'server.crt', '-days', DAYS)
  const read = (name: string): string => readFileSync(path(name), 'utf8')
  return { ca: read('ca.crt'), certificate: read('server.crt'), key: read('server.key') }
}
