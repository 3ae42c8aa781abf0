import { describe, expect, it } from 'vitest'

import {
  addException,
  approveException,
  listExceptions,
  noticeExpiring,
  removeException,
} from '../../../src/enforcement/exceptions/exception-operations.js'
import type { NewException } from '../../../src/store/ports/exception-store.js'
import type { TestStore } from '../../support/service-store.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()
const NOW_MS = Date.parse('2027-06-01T12:00:00Z')
const DAY_MS = 86_400_000
const added: NewException = {
  ...{ package: 'static.wait', application: 'shop', pipeline: undefined, reason: 'migration', owner: 'ana' },
  ...{ createdMs: NOW_MS, untilMs: NOW_MS + 10 * DAY_MS, needsApproval: false },
}
const origin = 'test'
const by = (user: string, nowMs = NOW_MS + 1) => ({ user, origin, nowMs })

async function kindsOf({ lookups }: TestStore): Promise<string[]> {
  const found: string[] = []
  for (let seq = 1; ; seq++) {
    const record = await lookups.audit.find(seq)
    if (record === undefined) return found
    found.push(record.kind)
  }
}

describe('an exception', () => {
  it('is added once, however often the request is repeated', async () => {
    const store = await open()
    const { writer, reader, lookups } = store
    const before = await lookups.exceptions.version()
    const first = await writer.run(addException, { added, origin })
    const second = await writer.run(addException, { added: { ...added, createdMs: NOW_MS + 5 }, origin })
    expect([first.isNew, second.isNew]).toEqual([true, false])
    expect(second.exception).toEqual(first.exception)
    expect(await reader.run(listExceptions, null)).toEqual([first.exception])
    expect(await kindsOf(store)).toEqual(['exception.added'])
    expect(await lookups.exceptions.version()).not.toBe(before)
  })

  it('is another one for another owner, reason or end', async () => {
    const store = await open()
    const { writer, reader } = store
    const variants = [
      {},
      { owner: 'bo' },
      { reason: 'other' },
      { untilMs: added.untilMs + 1 },
      { pipeline: 'x' },
    ]
    for (const variant of variants)
      await writer.run(addException, { added: { ...added, ...variant }, origin })
    expect(await reader.run(listExceptions, null)).toHaveLength(variants.length)
  })

  it('is approved by a second person only, once', async () => {
    const store = await open()
    const { writer } = store
    const { exception } = await writer.run(addException, { added: { ...added, needsApproval: true }, origin })
    const { id } = exception
    await expect(writer.run(approveException, { id, ...by('Ana ') })).rejects.toMatchObject({
      kind: 'forbidden',
    })
    const approved = await writer.run(approveException, { id, ...by('bo') })
    expect(approved).toMatchObject({ approver: 'bo', approvedMs: NOW_MS + 1 })
    expect(await writer.run(approveException, { id, ...by('bo', NOW_MS + 9) })).toEqual(approved)
    await expect(writer.run(approveException, { id, ...by('cy') })).rejects.toMatchObject({
      kind: 'conflict',
    })
    expect(await kindsOf(store)).toEqual(['exception.added', 'exception.approved'])
  })

  it('cannot be approved after its end, without need, or if there is none', async () => {
    const { writer } = await open()
    const plain = await writer.run(addException, { added, origin })
    const pending = await writer.run(addException, {
      added: { ...added, needsApproval: true, reason: 'b' },
      origin,
    })
    const approve = (id: number, nowMs?: number): Promise<unknown> =>
      writer.run(approveException, { id, ...by('bo', nowMs) })
    await expect(approve(plain.exception.id)).rejects.toThrow('needs no approval')
    await expect(approve(pending.exception.id, added.untilMs)).rejects.toThrow('has ended')
    await expect(approve(999)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('is removed by its owner or an approver', async () => {
    const store = await open()
    const { writer, reader } = store
    const { exception } = await writer.run(addException, { added, origin })
    const remove = (user: string, mayRemoveAny: boolean): Promise<unknown> =>
      writer.run(removeException, { id: exception.id, mayRemoveAny, ...by(user) })
    await expect(remove('bo', false)).rejects.toMatchObject({ kind: 'forbidden' })
    await remove('bo', true)
    await expect(remove('bo', true)).rejects.toMatchObject({ kind: 'not_found' })
    expect(await reader.run(listExceptions, null)).toEqual([])
    expect(await kindsOf(store)).toEqual(['exception.added', 'exception.removed'])
  })

  it('is noticed once before its end, and removed long after it', async () => {
    const store = await open()
    const { writer, reader } = store
    const { exception } = await writer.run(addException, { added, origin })
    const notice = (nowMs: number, removeBeforeMs = 0): Promise<readonly { readonly id: number }[]> =>
      writer.run(noticeExpiring, { nowMs, withinMs: 7 * DAY_MS, removeBeforeMs })
    expect(await notice(NOW_MS)).toEqual([])
    expect((await notice(NOW_MS + 4 * DAY_MS)).map(({ id }) => id)).toEqual([exception.id])
    expect(await notice(NOW_MS + 5 * DAY_MS)).toEqual([])
    expect(await kindsOf(store)).toEqual(['exception.added', 'exception.expiring'])
    await notice(NOW_MS + 50 * DAY_MS, added.untilMs + 1)
    expect(await reader.run(listExceptions, null)).toEqual([])
  })
})
