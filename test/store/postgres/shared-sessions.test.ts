import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { BrowserSessions } from '../../../src/store/ports/browser-sessions.js'
import { query } from '../../support/postgres/postgres-server.js'
import { openTwo, useReplicaStores } from '../../support/postgres/replica-stores.js'
import { databaseOf } from '../../support/postgres/test-database.js'

const open = useReplicaStores()
const host = 'tidegate.example.org'
const sessionOf = (tokenName: string) => ({
  tokenName,
  tokenDigest: `digest of ${tokenName}`,
  host,
  formToken: `form of ${tokenName}`,
})

async function sessionsOfTwo(): Promise<{
  readonly one: BrowserSessions
  readonly other: BrowserSessions
  readonly change: (text: string) => Promise<unknown>
}> {
  const { one, other, name } = await openTwo(open, randomUUID())
  if (one.sharing === undefined || other.sharing === undefined) throw new Error('nothing is shared')
  const settings = await databaseOf(name)
  const change = (text: string) => query(settings, text)
  return { one: one.sharing.sessions, other: other.sharing.sessions, change }
}

it('who signed in at one has signed in at the other, under the same Host, until signed out at either', async () => {
  const { one, other } = await sessionsOfTwo()
  await one.add('key', sessionOf('ana'))
  expect(await other.use('key', host)).toMatchObject(sessionOf('ana'))
  expect(await other.use('key', 'evil.example')).toBeUndefined()
  await other.remove('key')
  expect(await one.use('key', host)).toBeUndefined()
})

it('keeps the account of a session, and none for a token', async () => {
  const { one, other } = await sessionsOfTwo()
  await one.add('token', sessionOf('ana'))
  expect((await other.use('token', host))?.account).toBeUndefined()
  await one.add('account', { ...sessionOf('bo'), account: 'first' })
  await other.replaceAccount('account', 'second')
  expect((await one.use('account', host))?.account).toBe('second')
})

it('ends the sessions of an account: by its session there, or by its subject if that is unknown', async () => {
  const { one, other } = await sessionsOfTwo()
  const added = { one: { sub: 'ana', sid: '1' }, two: { sub: 'ana', sid: '2' }, old: { sub: 'ana' } }
  await one.add('token', sessionOf('ana'))
  for (const [key, account] of Object.entries(added))
    await one.add(key, { ...sessionOf('ana'), account: JSON.stringify(account) })
  const end = async (account: { sub?: string; sid?: string }) =>
    (await other.removeAccounts({ sub: undefined, sid: undefined, ...account })).map(({ key }) => key).sort()
  expect(await end({})).toEqual([])
  expect(await end({ sid: '3' })).toEqual([])
  expect(await end({ sub: 'ana', sid: '1' })).toEqual(['old', 'one'])
  expect(await end({ sub: 'ana' })).toEqual(['two'])
  expect(await one.use('token', host)).toBeDefined()
})

it('sessions end two hours after the last request anywhere, and after twelve in any case', async () => {
  const { one, other, change } = await sessionsOfTwo()
  await one.add('key', sessionOf('ana'))
  const age = (column: string, hours: number) =>
    change(`update browser_sessions set ${column} = ${column} - interval '${hours} hours'`)
  await age('used', 1.9)
  expect(await other.use('key', host)).toBeDefined()
  await age('used', 1.9)
  expect(await one.use('key', host)).toBeDefined()
  await age('began', 12)
  expect(await one.use('key', host)).toBeUndefined()
  await one.add('second', sessionOf('ana'))
  await age('used', 2)
  expect(await one.use('second', host)).toBeUndefined()
})

it('a token has ten sessions at most: the one that was used longest ago makes room', async () => {
  const { one, other, change } = await sessionsOfTwo()
  for (let nth = 0; nth < 10; nth += 1) {
    await (nth % 2 === 0 ? one : other).add(`key ${nth}`, sessionOf('ana'))
    await change("update browser_sessions set used = used - interval '2 minutes'")
  }
  await one.add('of another', sessionOf('bo'))
  expect(await other.use('key 0', host)).toBeDefined()
  await other.add('one more', sessionOf('ana'))
  expect(await one.use('key 0', host)).toBeDefined()
  expect(await one.use('key 1', host)).toBeUndefined()
  expect(await one.use('key 2', host)).toBeDefined()
  expect(await one.use('of another', host)).toBeDefined()
})

it('where a newer release lets this one write no more nobody signs in, but whoever signs out is out', async () => {
  const { one, other, change } = await sessionsOfTwo()
  await one.add('key', sessionOf('ana'))
  await change('update store_schema set oldest_writer = 99')
  await expect(one.add('another', sessionOf('ben'))).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('upgrade this replica') as string,
  })
  await change("update browser_sessions set used = used - interval '1 hour'")
  expect(await other.use('key', host)).toBeDefined()
  expect(
    await change("select key from browser_sessions where used > clock_timestamp() - interval '1 minute'"),
  ).toEqual([])
  await other.remove('key')
  expect(await one.use('key', host)).toBeUndefined()
})
