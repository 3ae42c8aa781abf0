import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'

import { DATABASE_URL_TEXT, isDatabaseUrl } from '../../../src/config/values/database-url.js'
import { Secret } from '../../../src/lib/outbound/credentials.js'
import { postgresSettings } from '../../../src/main/store/store-location.js'

const secret = () => new Secret('swordfish')
const read = (url: string, env: Record<string, string> = {}, more = {}) =>
  postgresSettings(url, { tls: 'auto', ...more }, secret, env)

describe('how a database is reached', () => {
  it('is in the URL, without the password', () => {
    const settings = read('postgres://an%20a@db.example.org:6432/tide', {}, { password: { env: 'X' } })
    expect(settings).toMatchObject({
      host: 'db.example.org',
      port: 6432,
      user: 'an a',
      database: 'tide',
      password: 'swordfish',
      tls: { isVerified: true },
    })
  })

  it('comes from the environment if the URL omits it', () => {
    const env = { PGHOST: 'db.example.org', PGPORT: '7000', PGUSER: 'tidegate', PGDATABASE: 'records' }
    expect(read('postgres://', env)).toMatchObject({
      host: 'db.example.org',
      port: 7000,
      user: 'tidegate',
      database: 'records',
      password: undefined,
    })
    expect(read('postgres://bo@/', env)).toMatchObject({ user: 'bo', host: 'db.example.org' })
  })

  it('is any of several hosts, which the URL or the environment names', () => {
    const both = { host: 'a.example.org', port: 5433, otherHosts: [{ host: '2001:db8::1', port: 5432 }] }
    expect(read('postgres://t@a.example.org:5433,[2001:db8::1]/tide')).toMatchObject({ ...both, user: 't' })
    expect(
      read('postgres:///tide', { PGHOST: 'a.example.org,2001:db8::1', PGPORT: '5433,5432' }),
    ).toMatchObject(both)
    expect(read('postgres://localhost,127.0.0.2/tide').tls).toBeUndefined()
    expect(read('postgres://localhost,db.example.org/tide').tls).toBeDefined()
    expect(read('postgres://localhost/tide').otherHosts).toBeUndefined()
  })

  test.each([
    'postgres://a@localhost/b',
    'postgres://a@[::1]:5432/b',
    'postgres://a@/b?host=/run/postgresql',
  ])('is not encrypted on this machine itself: %s', (url) => {
    expect(read(url).tls).toBeUndefined()
    expect(read(url, {}, { tls: 'require' }).tls).toMatchObject({ isVerified: false })
  })

  it('names the password file, which each connection reads', () => {
    const named = { password: { file: '/run/secrets/db' } }
    expect(read('postgres://db/b', {}, named)).toMatchObject({ passwordFile: '/run/secrets/db' })
    expect(read('postgres://db/b', {}, { password: { env: 'X' } }).passwordFile).toBeUndefined()
  })

  it('is refused where a certificate cannot be read', () => {
    expect(() => read('postgres://db.example.org/b', {}, { tlsCa: '/nowhere/ca.pem' })).toThrow(
      'store.tlsCa cannot be read',
    )
  })
})

describe('a URL of a database', () => {
  test.each([
    'postgres://tidegate:secret@db.example.org/tidegate',
    'postgres://db.example.org/tidegate?sslmode=disable',
    'postgres://db.example.org/tidegate#x',
    'postgres://db.example.org,/tidegate',
    'postgres://a.example.org,b.example.org:x/tidegate',
    'postgres://a.example.org,b.example.org/tidegate?host=/run',
    'http://db.example.org/tidegate',
    'tidegate',
    '',
  ])('is not %s', (url) => {
    expect(isDatabaseUrl(url)).toBe(false)
    expect(DATABASE_URL_TEXT).toContain('store.password')
  })

  it('never contains a password', () => {
    const part = fc.stringMatching(/^[a-z0-9:@/?#%=&]{0,12}$/)
    fc.assert(
      fc.property(part, part, part, (user, host, path) => {
        const url = `postgres://${user}@${host}/${path}`
        if (isDatabaseUrl(url) && URL.canParse(url)) expect(new URL(url).password).toBe('')
        if (isDatabaseUrl(url)) expect(read(url)).not.toHaveProperty('password', expect.any(String))
      }),
      { numRuns: 300 },
    )
  })
})
