import { describe, expect, it } from 'vitest'

import { Sessions } from '../../../src/http/sessions/sessions.js'

const HOUR_MS = 3_600_000
const HOST = 'localhost:8181'

describe('sessions', () => {
  it('end after two hours without a request, and after twelve in any case', () => {
    let nowMs = 0
    const sessions = new Sessions(() => nowMs)
    const [idle, busy] = [sessions.open('ana', HOST), sessions.open('bo', HOST)]
    for (let hour = 1; hour < 12; hour++) {
      nowMs = hour * HOUR_MS
      expect(sessions.find(busy, HOST)?.tokenName).toBe('bo')
    }
    expect(sessions.find(idle, HOST)).toBeUndefined()
    nowMs = 12 * HOUR_MS
    expect(sessions.find(busy, HOST)).toBeUndefined()
  })

  it('are at most a thousand: the one that was used longest ago makes room', () => {
    const sessions = new Sessions(() => 0)
    const ids = Array.from({ length: 1000 }, (_, nth) => sessions.open(`person ${nth}`, HOST))
    expect(sessions.find(ids[0] ?? '', HOST)).toBeDefined()
    sessions.open('one more', HOST)
    expect(sessions.find(ids[0] ?? '', HOST)).toBeDefined()
    expect(sessions.find(ids[1] ?? '', HOST)).toBeUndefined()
  })

  it('have tokens of their own for forms, and are nothing under another Host', () => {
    const sessions = new Sessions(() => 0)
    const [one, other] = [sessions.open('ana', HOST), sessions.open('ana', HOST)]
    expect(sessions.find(one, HOST)?.formToken).not.toBe(sessions.find(other, HOST)?.formToken)
    expect(sessions.find(one, 'evil.example')).toBeUndefined()
    sessions.close(one)
    expect(sessions.find(one, HOST)).toBeUndefined()
  })
})
