import { describe, expect, it } from 'vitest'

import { MemorySessions } from '../../../src/http/sessions/memory-sessions.js'

const HOUR_MS = 3_600_000
const host = 'localhost:8181'
const sessionOf = (tokenName: string) => ({
  tokenName,
  tokenDigest: `digest of ${tokenName}`,
  host,
  formToken: `form of ${tokenName}`,
})

describe('sessions', () => {
  it('end after two hours without a request, and after twelve in any case', async () => {
    let nowMs = 0
    const sessions = new MemorySessions(() => nowMs)
    await sessions.add('idle', sessionOf('ana'))
    await sessions.add('busy', sessionOf('bo'))
    for (let hour = 1; hour < 12; hour++) {
      nowMs = hour * HOUR_MS
      expect((await sessions.use('busy', host))?.tokenName).toBe('bo')
    }
    expect(await sessions.use('idle', host)).toBeUndefined()
    nowMs = 12 * HOUR_MS
    expect(await sessions.use('busy', host)).toBeUndefined()
  })

  it('are at most a thousand: the one that was used longest ago makes room', async () => {
    const sessions = new MemorySessions(() => 0)
    for (let nth = 0; nth < 1000; nth++) await sessions.add(`key ${nth}`, sessionOf(`person ${nth}`))
    expect(await sessions.use('key 0', host)).toBeDefined()
    await sessions.add('one more', sessionOf('eve'))
    expect(await sessions.use('key 0', host)).toBeDefined()
    expect(await sessions.use('key 1', host)).toBeUndefined()
  })

  it('are nothing under another Host, nor when they were ended', async () => {
    const sessions = new MemorySessions(() => 0)
    await sessions.add('one', sessionOf('ana'))
    expect(await sessions.use('one', 'evil.example')).toBeUndefined()
    expect(await sessions.use('one', host)).toMatchObject({ formToken: 'form of ana' })
    await sessions.remove('one')
    expect(await sessions.use('one', host)).toBeUndefined()
  })
})

it('end where their accounts signed out: by the session there, or by the subject if it is unknown', async () => {
  const sessions = new MemorySessions(() => 0)
  const added = { one: { sub: 'ana', sid: '1' }, two: { sub: 'ana', sid: '2' }, old: { sub: 'ana' } }
  await sessions.add('token', sessionOf('ana'))
  for (const [key, account] of Object.entries(added))
    await sessions.add(key, { ...sessionOf('ana'), account: JSON.stringify(account) })
  const end = async (account: { sub?: string; sid?: string }) =>
    (await sessions.removeAccounts({ sub: undefined, sid: undefined, ...account })).map(({ key }) => key)
  expect(await end({})).toEqual([])
  expect(await end({ sid: '3' })).toEqual([])
  expect(await end({ sub: 'ana', sid: '1' })).toEqual(['one', 'old'])
  expect(await end({ sub: 'ana' })).toEqual(['two'])
  expect(await sessions.use('token', host)).toBeDefined()
})
