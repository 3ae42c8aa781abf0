import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { findProgram, runProgram } from './find-program.js'

const DAY_MS = 86_400_000
const openssl = findProgram('openssl')

/** Whether certificates can be created here. Tests that need them are skipped otherwise. */
export const canMakeCertificates = openssl !== undefined

/** Files in PEM. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

interface CertificateWishes {
  /** `/O=Example/CN=echo`. */
  readonly subject: string
  /** `DNS:localhost,IP:127.0.0.1`. */
  readonly names?: string
  /** How long it is good; one that has ended where negative. */
  readonly days?: number
}

/** An authority that signs certificates in a folder. */
export class CertificateAuthority {
  readonly #folder: string
  readonly #name: string
  /** The path of its own certificate. */
  readonly certificate: string

  constructor(folder: string, name = 'authority') {
    this.#folder = folder
    this.#name = name
    this.certificate = join(folder, `${name}.pem`)
    this.#run(
      'req',
      '-x509',
      ...newKey(`${name}.key`),
      '-out',
      `${name}.pem`,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    )
  }

  /** Makes NAME.pem and NAME.key in the folder. */
  make(name: string, { subject, names, days = 30 }: CertificateWishes): CertificateFiles {
    this.#run('req', ...newKey(`${name}.key`), '-out', `${name}.csr`, '-subj', subject)
    writeFileSync(join(this.#folder, `${name}.ext`), names === undefined ? '' : `subjectAltName=${names}\n`)
    const authority = ['-CA', `${this.#name}.pem`, '-CAkey', `${this.#name}.key`, '-CAcreateserial']
    const wishes = ['-days', String(days), '-extfile', `${name}.ext`]
    this.#run('x509', '-req', '-in', `${name}.csr`, ...authority, ...wishes, '-out', `${name}.pem`)
    return { certificate: join(this.#folder, `${name}.pem`), key: join(this.#folder, `${name}.key`) }
  }

  /** Writes a revocation list of the authority with an expiry time and returns it in PEM. */
  revoke(certificates: readonly CertificateFiles[], endsAt = new Date(Date.now() + DAY_MS)): string {
    const list = `${this.#name}.crl`
    writeFileSync(join(this.#folder, `${this.#name}.index`), '')
    writeFileSync(
      join(this.#folder, `${this.#name}.cnf`),
      `[ca]\ndefault_ca = own\n[own]\ndatabase = ${this.#name}.index\ndefault_md = sha256\n`,
    )
    const own = [
      '-config',
      `${this.#name}.cnf`,
      '-keyfile',
      `${this.#name}.key`,
      '-cert',
      `${this.#name}.pem`,
    ]
    for (const { certificate } of certificates) this.#run('ca', ...own, '-revoke', certificate)
    // `20260131120000Z`, as GeneralizedTime is written.
    const time = (at: Date): string => `${at.toISOString().slice(0, 19).replace(/\D/g, '')}Z`
    const begins = time(new Date(endsAt.getTime() - 2 * DAY_MS))
    this.#run(
      ...['ca', ...own, '-gencrl', '-crl_lastupdate', begins, '-crl_nextupdate', time(endsAt), '-out', list],
    )
    return readFileSync(join(this.#folder, list), 'utf8')
  }

  #run(...args: readonly string[]): void {
    const { succeeded, output } = runProgram(openssl ?? 'openssl', args, this.#folder)
    if (!succeeded) throw new Error(`openssl ${args.join(' ')}: ${output}`)
  }
}

/** Arguments for a key that is generated quickly. */
function newKey(file: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file]
}
