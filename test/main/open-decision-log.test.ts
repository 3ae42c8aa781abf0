import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findDecision } from '../../src/decisions/query-decisions.js'
import { openDecisionLog } from '../../src/main/open-decision-log.js'
import type { OpenDecisionLogOptions } from '../../src/main/open-decision-log.js'
import { anEntry, openWriter, temporaryFolder } from '../support/decisions.js'

async function open(overrides: Partial<OpenDecisionLogOptions> = {}) {
  const dataDir = join(temporaryFolder(), 'data')
  const opened = await openDecisionLog({ dataDir, openWriter, ...overrides })
  onTestFinished(() => opened.close())
  return opened
}

describe('opening the decision log of a data directory', () => {
  it('shows a decision as soon as it is recorded', async () => {
    const opened = await open()
    opened.log.record(anEntry({ decisionId: 'new' }))
    expect(await findDecision(opened, 'new')).toMatchObject({ path: 'deploy/allow' })
  })

  it('masks an input that is larger than its kept part', async () => {
    const opened = await open({ masks: ['/secret'], bounds: { maxInputBytes: 30 } })
    const input = Buffer.from(JSON.stringify({ padding: 'x'.repeat(100), secret: 'y' }))
    opened.log.record(anEntry({ input }))
    expect(await findDecision(opened, 'd-1')).toMatchObject({
      inputPrefix: input.subarray(0, 30).toString(),
      inputBytes: input.length,
      inputTruncated: true,
    })
    expect(opened.log.stats().dropped.mask_failed).toBe(0)
  })

  it('refuses a mask that is no JSON pointer', async () => {
    await expect(open({ masks: ['secret'] })).rejects.toMatchObject({ kind: 'invalid' })
  })
})
