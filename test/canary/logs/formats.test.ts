import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'

import { describeLine } from '../../../src/canary/logs/records/describe-record.js'
import { joinTopics, topicFinder } from '../../../src/canary/logs/topics/find-topic.js'
import type { LogSide } from '../../../src/canary/logs/model/types.js'
import { withoutColours } from '../../../src/lib/text/shown-text.js'
import { judge, logSide } from '../../support/logs/log-side.js'
import type { Repeated } from '../../support/logs/log-side.js'

const FILE = new URL('../../cases/analysis/logs/formats.yaml', import.meta.url)
const Formats = z.object({
  layouts: z.record(z.string(), z.tuple([z.string(), z.string()])),
  harmless: z.array(z.string()),
})
const { layouts, harmless } = Formats.parse(parse(readFileSync(FILE, 'utf8')))

/** Entries as sources return them: without colours, and with one line per output line. */
function written(entries: readonly Repeated[]): LogSide {
  const side = logSide(entries)
  const lines = [...side.lines].flatMap(({ atMs, text }) =>
    withoutColours(text)
      .split('\n')
      .map((line) => ({ atMs, text: line })),
  )
  return { ...side, lines }
}

describe('a new kind of trouble in one of twenty lines', () => {
  it.each(Object.entries(layouts))('is not passed: %s', (_layout, [ordinary, bad]) => {
    const baseline = written([{ text: ordinary, times: 900 }])
    const canary = written([
      { text: ordinary, times: 860 },
      { text: bad, times: 45 },
    ])
    expect(judge(baseline, canary).report.verdict).not.toBe('Success')
  })

  it.each(Object.entries(layouts))(
    'is passed where the baseline has it too: %s',
    (_layout, [ordinary, bad]) => {
      const side = (times: number): LogSide =>
        written([
          { text: ordinary, times: 900 },
          { text: bad, times },
        ])
      expect(judge(side(45), side(43)).report.verdict).toBe('Success')
    },
  )
})

it.each(harmless)('a line that complains of nothing costs nothing: %s', (text) => {
  const ordinary = { text: 'INFO order {n} placed', times: 900 }
  const canary = written([ordinary, { text, times: 45 }])
  expect(judge(written([ordinary]), canary).report.verdict).toBe('Success')
})

describe('how bad a line is', () => {
  const find = topicFinder(joinTopics([], false))
  it.each([
    ['error', '[2026-11-21 06:00:00,123: ERROR/ForkPoolWorker-2] Task shop.buy raised'],
    ['critical', '2026-11-21T06:00:00Z | CRITICAL | shop:buy:12 - no stock'],
    ['error', 'Nov 21 06:00:00 web-1 shop[12]: {"level":"error","msg":"cannot reserve"}'],
    ['error', 'web-1  | {"level":50,"msg":"cannot reserve"}'],
    ['error', 'npm ERR! cannot reserve'],
    ['critical', '2026/11/21 06:00:00 [alert] 12#0: worker process 13 exited on signal 11'],
    ['warn', '2026-11-21 06:00:00 [Warning] aborted connection'],
    ['error', 'msg="cannot reserve" level=error'],
    ['error', '{"level":"info","msg":"done","status":503}'],
    [undefined, '2026-11-21 06:00:00 I shop: order placed'],
    [undefined, 'level=info msg="upstream answered" status=200'],
    [undefined, '10.0.0.1 - - [21/Nov/2026:06:00:00 +0000] "GET /error HTTP/1.1" 404 12'],
    [undefined, 'E 44 is the size of the shirt'],
    [undefined, 'user typed "uncaught fish" into search level=info'],
    [undefined, '<14>1 2026-11-21T06:00:00Z web shop 1 - - order 12 placed'],
    // The text before the object is the message and states its own level.
    [undefined, 'INFO request done {"level":"error","msg":"what the client sent"}'],
  ])('is read from its layout: %s', (severity, line) => {
    expect(find(describeLine(line))?.severity).toBe(severity)
  })
})
