import { describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { ReportLinks } from '../../../src/http/analysis-report/report-links.js'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-03-05T09:30:00Z')
const RUN = { id: 7, startedMs: NOW_MS - 1000, plan: '{"judge":"robust"}' }

const links = new ReportLinks({ key: () => 'a key', maxAgeMs: 30 * DAY_MS })

function refusal(act: () => void): string | undefined {
  try {
    act()
    return undefined
  } catch (raw) {
    return raw instanceof AppError ? `${raw.kind} ${raw.code}` : String(raw)
  }
}

function endOf(token: string): string {
  return new Date(Number(token.split('-')[0])).toISOString()
}

describe('the link of a report', () => {
  const token = links.issue(RUN, NOW_MS)

  test('stays the same all day, and ends at the end of a day', () => {
    expect(endOf(token)).toBe('2026-04-05T00:00:00.000Z')
    expect(links.issue(RUN, Date.parse('2026-03-05T23:59:59.999Z'))).toBe(token)
    expect(endOf(links.issue(RUN, Date.parse('2026-03-06T00:00:01Z')))).toBe('2026-04-06T00:00:00.000Z')
  })

  test('leads to the report until its end, and then says how to get another', () => {
    const endMs = Date.parse('2026-04-05T00:00:00Z')
    expect(refusal(() => links.check(RUN, token, endMs - 1))).toBeUndefined()
    expect(refusal(() => links.check(RUN, token, endMs))).toBe('forbidden report_link_expired')
    expect(() => links.check(RUN, token, endMs)).toThrow(
      /expired at 2026-04-05T00:00:00\.000Z\. Get a new one from GET \/autopilot\/v5\/canaries\/7/,
    )
  })

  test.each([
    ['another number', { ...RUN, id: 8 }],
    ['another start, as after a restore', { ...RUN, startedMs: RUN.startedMs + 1 }],
    ['another plan', { ...RUN, plan: '{"judge":"kayenta"}' }],
    ['no run', undefined],
  ])('leads nowhere for a run with %s', (_, run) => {
    expect(refusal(() => links.check(run, token, NOW_MS))).toBe('forbidden forbidden')
  })

  test.each([
    ['a later end', token.replace(/^\d+/, (end) => String(Number(end) + DAY_MS))],
    ['an end with zeros before it', `0${token}`],
    ['no end', token.replace(/^\d+-/, '')],
    ['a letter less', token.slice(0, -1)],
    ['a letter more', `${token}A`],
    ['other letters', token.replace(/.{43}$/, 'A'.repeat(43))],
    ['nothing', ''],
  ])('leads nowhere with %s', (_, changed) => {
    expect(refusal(() => links.check(RUN, changed, NOW_MS))).toBe('forbidden forbidden')
  })

  test('leads nowhere in an installation with another key', () => {
    const others = new ReportLinks({ key: () => 'another key', maxAgeMs: DAY_MS })
    expect(refusal(() => others.check(RUN, token, NOW_MS))).toBe('forbidden forbidden')
  })
})
