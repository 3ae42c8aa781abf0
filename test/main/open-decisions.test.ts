import { expect, onTestFinished, test } from 'vitest'

import { loadConfig } from '../../src/config/load-config.js'
import type { DecisionBatchWriter } from '../../src/decisions/keep-decisions.js'
import { AppError } from '../../src/errors/app-error.js'
import type { Logger } from '../../src/lib/logger.js'
import { openDecisions } from '../../src/main/open-decisions.js'
import type { DecisionParts } from '../../src/main/open-decisions.js'
import { anEntry, openWriter, temporaryFolder } from '../support/decisions.js'

test('repeated failures for the same reason are logged once, and again after a success', async () => {
  let isFull = true
  const told: string[] = []
  const writerOf: DecisionParts['openWriter'] = async (options) => {
    const writer: DecisionBatchWriter = await openWriter(options)
    return {
      write: (batch) =>
        isFull ? Promise.reject(new AppError('unavailable', 'disk is full')) : writer.write(batch),
      close: () => writer.close(),
    }
  }
  const config = loadConfig({ env: { TIDEGATE_DATA_DIR: temporaryFolder() } })
  const parts = {
    ...{ store: {}, take: () => undefined, openWriter: writerOf, threadDied: () => undefined },
    logger: { error: ({ error }: { error: string }) => void told.push(error) } as unknown as Logger,
  }
  const { log, health, close } = await openDecisions(config, parts as unknown as DecisionParts)
  onTestFinished(close)
  const record = async (decisionId: string): Promise<void> => {
    log.record(anEntry({ decisionId }))
    await log.flush()
  }
  for (const id of ['a', 'b', 'c']) await record(id)
  expect(told).toEqual(['disk is full'])
  expect(health.problem?.()).toBe('decisions not written: disk is full')
  isFull = false
  await record('d')
  expect(health.isUp()).toBe(true)
  isFull = true
  await record('e')
  expect(told).toEqual(['disk is full', 'disk is full'])
  expect(log.stats()).toMatchObject({ written: 1, dropped: { write_failed: 4 } })
})
