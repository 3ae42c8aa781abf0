import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

import { ConfigSchema } from '../../../src/config/config.js'
import { makeLogger } from '../../../src/lib/logger.js'
import { TlsFiles } from '../../../src/main/files/tls-files.js'
import { CertificateAuthority, canMakeCertificates } from '../../support/certificates.js'
import { makeWorkspace } from '../../support/workspace.js'

const CERTIFICATE = 'new certificate in use'
const AUTHORITIES = 'new client authorities in use'
const LISTS = 'new revocation lists in use'

/** The files in use, functions that replace them, and the log. */
function open() {
  const workspace = makeWorkspace()
  onTestFinished(() => workspace.remove())
  const at = (name: string): string => join(workspace.path, name)
  const authority = new CertificateAuthority(workspace.path)
  authority.make('server', { subject: '/CN=one' })
  authority.make('renewed', { subject: '/CN=two' })
  new CertificateAuthority(workspace.path, 'other')
  copyFileSync(authority.certificate, at('clients.pem'))
  writeFileSync(at('clients.crl'), authority.revoke([]))
  const lines: string[] = []
  const logger = makeLogger({ level: 'info', format: 'json' }, { write: (line) => void lines.push(line) })
  const server = {
    ...{ tlsCertificate: at('server.pem'), tlsKey: at('server.key') },
    ...{ tlsClientCa: at('clients.pem'), tlsClientCrl: at('clients.crl') },
  }
  const files = TlsFiles.open(ConfigSchema.parse({ server }), logger)
  onTestFinished(() => files?.close())
  const replaceCertificate = (): void => {
    copyFileSync(at('renewed.pem'), at('server.pem'))
    copyFileSync(at('renewed.key'), at('server.key'))
  }
  return {
    replaceCertificate,
    replaceAuthorities: () => copyFileSync(at('other.pem'), at('clients.pem')),
    replaceLists: () =>
      writeFileSync(at('clients.crl'), authority.revoke([], new Date(Date.now() + 3_600_000))),
    check: () => files?.check(),
    told: () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
  }
}

describe.skipIf(!canMakeCertificates)('TLS files that are replaced while they serve (openssl)', () => {
  it('are reported by kind', () => {
    const files = open()
    files.check()
    expect(files.told()).toEqual([])
    files.replaceAuthorities()
    files.check()
    expect(files.told()).toEqual([AUTHORITIES])
    files.replaceLists()
    files.check()
    files.replaceCertificate()
    files.check()
    expect(files.told()).toEqual([AUTHORITIES, LISTS, CERTIFICATE])
  })

  it('are all reported if several are replaced together', () => {
    const files = open()
    files.replaceCertificate()
    files.replaceAuthorities()
    files.replaceLists()
    files.check()
    expect(files.told()).toEqual([CERTIFICATE, AUTHORITIES, LISTS])
  })
})
