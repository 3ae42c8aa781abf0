import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../../src/store/postgres/engine/migrate.js'
import type { PostgresSettings, PostgresTls } from '../../../src/store/postgres/engine/postgres-settings.js'
import { Session } from '../../../src/store/postgres/engine/session.js'
import { serviceSchema } from '../../../src/store/postgres/migrations/service.js'
import { makeCertificates } from '../../support/postgres/certificates.js'
import { startPostgres } from '../../support/postgres/postgres-server.js'
import { findProgram } from '../../support/find-program.js'

/** A server that shows a certificate for a name. */
async function startEncrypted(subject: string) {
  const made = makeCertificates(subject)
  const files = { 'server.crt': made.certificate, 'server.key': made.key }
  const server = await startPostgres({ ssl: 'on', ssl_min_protocol_version: 'TLSv1.3' }, files)
  onTestFinished(() => server.remove())
  const over = (tls: PostgresTls | undefined): PostgresSettings => ({ ...server.settings, tls })
  return { ...made, over }
}

async function isEncrypted(settings: PostgresSettings): Promise<boolean> {
  const session = new Session(settings, { statementMs: 5000, lockMs: 5000 })
  try {
    const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'
    return (await session.query<{ ssl: boolean }>(text)).rows[0]?.ssl === true
  } finally {
    await session.close()
  }
}

describe.skipIf(findProgram('openssl') === undefined)(
  'an encrypted connection to the database',
  { timeout: 40_000 },
  () => {
    it('is made to a server that its authority has signed for, and to no other', async () => {
      const { ca, over } = await startEncrypted('IP:127.0.0.1')
      const trusted = over({ isVerified: true, ca })
      expect(await migrate(trusted, serviceSchema)).toBe(true)
      expect(await isEncrypted(trusted)).toBe(true)
      expect(await isEncrypted(over({ isVerified: false }))).toBe(true)
      expect(await isEncrypted(over(undefined))).toBe(false)
      const { ca: another } = makeCertificates('IP:127.0.0.1')
      for (const tls of [{ isVerified: true, ca: another }, { isVerified: true }]) {
        await expect(migrate(over(tls), serviceSchema)).rejects.toMatchObject({
          kind: 'unavailable',
          message: expect.stringContaining('untrusted certificate') as string,
        })
      }
    })

    it('is not made to a server whose certificate is for another host', async () => {
      const { ca, over } = await startEncrypted('DNS:database.example')
      await expect(migrate(over({ isVerified: true, ca }), serviceSchema)).rejects.toThrow(
        'check store.tlsCa',
      )
    })

    it('is not given up for one that is not encrypted', async () => {
      const server = await startPostgres()
      onTestFinished(() => server.remove())
      const settings = { ...server.settings, tls: { isVerified: false } }
      await expect(migrate(settings, serviceSchema)).rejects.toThrow('does not support SSL')
    })
  },
)
