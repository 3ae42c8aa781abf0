import { describe, expect, it } from 'vitest'
import { dueNotice, firstNoticeMs } from '../../../src/gates/instances/reminders.js'

const MINUTE = 60_000
const END = 100 * MINUTE

describe('reminders of an instance', () => {
  it('start after a time, are repeated, and end with a notice of the approaching end', () => {
    const gate = { reminders: { afterMinutes: 30, everyMinutes: 30, beforeExpiryMinutes: 20 } }
    let noticeMs = firstNoticeMs(gate, 0, END)
    const seen: unknown[] = []
    while (noticeMs !== undefined) {
      const { kind, nextMs } = dueNotice(gate, { noticeMs, expiresMs: END }, noticeMs)
      seen.push([kind, noticeMs / MINUTE])
      noticeMs = nextMs
    }
    expect(seen).toEqual([
      ['gate.reminded', 30],
      ['gate.reminded', 60],
      ['gate.expiring', 80],
    ])
  })

  it('are not sent where none are declared, or after the end', () => {
    expect(firstNoticeMs({}, 0, END)).toBeUndefined()
    expect(firstNoticeMs({ reminders: { afterMinutes: 200 } }, 0, END)).toBeUndefined()
  })

  it('are sent once after a long stop of the service', () => {
    const gate = { reminders: { afterMinutes: 1, everyMinutes: 1 } }
    const { nextMs } = dueNotice(gate, { noticeMs: MINUTE, expiresMs: END }, 50 * MINUTE)
    expect(nextMs).toBe(51 * MINUTE)
  })

  it('say at the trigger that an instance ends soon, if it lives shorter than the notice', () => {
    const gate = { reminders: { beforeExpiryMinutes: 200 } }
    expect(firstNoticeMs(gate, 0, END)).toBe(0)
    expect(dueNotice(gate, { noticeMs: 0, expiresMs: END }, 0)).toEqual({
      kind: 'gate.expiring',
      nextMs: undefined,
    })
  })
})
