import { afterEach, describe, expect, it, vi } from 'vitest'
import { decisionsOfExecution, queryDecisions } from '../../src/decisions/query-decisions.js'
import type { DecisionReadStore } from '../../src/store/ports/decision-store.js'

const emptyStore: DecisionReadStore = {
  page: () => Promise.resolve({ decisions: [] }),
  count: () => Promise.resolve(0),
  denials: () => Promise.resolve([]),
  get: () => Promise.resolve(undefined),
  ofExecution: () => Promise.resolve([]),
  close: () => Promise.resolve(),
}

afterEach(() => vi.useRealTimers())

describe('reading decisions', () => {
  it('waits until those just made are written', async () => {
    let finish = (): void => undefined
    const log = { flush: () => new Promise<void>((resolve) => (finish = resolve)) }
    const page = vi.spyOn(emptyStore, 'page')
    const answer = queryDecisions({ store: emptyStore, log }, {})
    expect(page).not.toHaveBeenCalled()
    finish()
    expect(await answer).toEqual({ decisions: [] })
  })

  it('waits for those of an execution too', async () => {
    let finish = (): void => undefined
    const log = { flush: () => new Promise<void>((resolve) => (finish = resolve)) }
    const ofExecution = vi.spyOn(emptyStore, 'ofExecution')
    const answer = decisionsOfExecution({ store: emptyStore, log }, '01J', 5)
    expect(ofExecution).not.toHaveBeenCalled()
    finish()
    await answer
    expect(ofExecution).toHaveBeenCalledWith('01J', 5)
  })
})
