import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'

import { describeLine } from '../../../src/canary/logs/records/describe-record.js'
import { joinTopics, topicFinder } from '../../../src/canary/logs/topics/find-topic.js'

const CASES = new URL('../../cases/analysis/logs/levels.yaml', import.meta.url)
const Cases = z.record(z.enum(['critical', 'error', 'warn', 'ordinary']), z.array(z.string()).min(10))
const cases = Object.entries(Cases.parse(parse(readFileSync(CASES, 'utf8'))))
const findTopic = topicFinder(joinTopics([], false))

describe.each(cases)('what says that it is %s', (severity, lines) => {
  it.each(lines)('is that: %s', (line) => {
    expect(findTopic(describeLine(line))?.severity ?? 'ordinary').toBe(severity)
  })
})
