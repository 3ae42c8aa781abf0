import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { toAppError } from '../../../src/errors/app-error.js'
import { tooManyWait } from '../../../src/http/exchange/line-pace.js'
import { PageTurns } from '../../../src/http/transport/page-turns.js'

const line = {
  takeTurn: vi.fn((): Promise<void> | undefined => undefined),
  spent: vi.fn((ms: number): number => ms),
}
const STAYS = (): void => undefined
/** What the thread has done and waited for until now, in milliseconds. */
let done = { active: 0, idle: 0 }

beforeEach(() => {
  done = { active: 0, idle: 0 }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation((before) => ({
    active: done.active - (before?.active ?? 0),
    idle: done.idle - (before?.idle ?? 0),
    utilization: 1,
  }))
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  line.takeTurn.mockReset()
  line.spent.mockReset()
})

/** Many who ask at once, and what became of each. */
function askFor(pages: PageTurns, many: number) {
  const ends: (() => void)[] = []
  const refused: string[] = []
  for (let asked = 0; asked < many; asked += 1)
    pages.take(STAYS).then(
      (end) => ends.push(end),
      (raw: unknown) => refused.push(toAppError(raw).kind),
    )
  return { ends, refused }
}

it('lets one page be made after the other, each in a turn of the event loop of its own', async () => {
  const { ends } = askFor(new PageTurns(line), 3)
  for (const made of [1, 2, 3]) {
    await nextTurn()
    await nextTurn()
    expect(ends).toHaveLength(made)
    ends[made - 1]?.()
    expect(ends).toHaveLength(made)
  }
})

it('lets the next one go on where a page is not there within a tenth of a second, and ends its turn once', async () => {
  const { ends } = askFor(new PageTurns(line), 3)
  await nextTurn()
  expect(ends).toHaveLength(1)
  vi.advanceTimersByTime(100)
  await nextTurn()
  await nextTurn()
  expect(ends).toHaveLength(2)
  ends[0]?.()
  await nextTurn()
  await nextTurn()
  expect(ends).toHaveLength(2)
})

it('lets turns be the shorter the longer pages wait for something else, and longer again behind one that is there in time', async () => {
  const { ends } = askFor(new PageTurns(line), 7)
  await nextTurn()
  const begunAfter = async (ms: number): Promise<number> => {
    vi.advanceTimersByTime(ms)
    await nextTurn()
    await nextTurn()
    return ends.length
  }
  for (const [place, ms] of [100, 50, 25, 20].entries()) {
    expect(await begunAfter(ms - 1)).toBe(place + 1)
    expect(await begunAfter(1)).toBe(place + 2)
  }
  ends[4]?.()
  expect(await begunAfter(0)).toBe(6)
  expect(await begunAfter(39)).toBe(6)
  expect(await begunAfter(1)).toBe(7)
})

it('takes what a page took of the thread from the time that those have who stand in line', async () => {
  const { ends } = askFor(new PageTurns(line), 1)
  await nextTurn()
  done = { active: 30, idle: 8 }
  ends[0]?.()
  expect(line.spent).toHaveBeenCalledExactlyOnceWith(30)
})

it('has a page wait until it is its turn in line, and goes on behind one that is refused there', async () => {
  line.takeTurn.mockImplementationOnce(() => Promise.reject(tooManyWait()))
  const { ends, refused } = askFor(new PageTurns(line), 2)
  await nextTurn()
  await nextTurn()
  expect(refused).toEqual(['unavailable'])
  expect(ends).toHaveLength(1)
  expect(line.takeTurn).toHaveBeenCalledTimes(2)
})

it('refuses those who would wait for more than five seconds once it is known what pages take', async () => {
  const { ends, refused } = askFor(new PageTurns(line), 400)
  for (let made = 1; made <= 20; made += 1) {
    await nextTurn()
    await nextTurn()
    expect(ends).toHaveLength(made)
    done = { active: done.active + 40, idle: done.idle + 10 }
    ends[made - 1]?.()
  }
  await nextTurn()
  // A hundred in five seconds, from the sixteenth that was made on; those before them in line are still there.
  expect(refused).toHaveLength(400 - 16 - 100)
  expect(new Set(refused)).toEqual(new Set(['unavailable']))
})

it('has who goes away while he waits keep no place, and counts nothing for him', async () => {
  const pages = new PageTurns(line)
  const first = await pages.take(STAYS)
  const leaves: (() => void)[] = []
  const gone = Array.from({ length: 300 }, () => pages.take((leave) => leaves.push(leave)))
  const outcomes = Promise.allSettled(gone)
  const { ends, refused } = askFor(pages, 1)
  for (const leave of leaves) leave()
  const reasons = (await outcomes).map(
    (outcome) => outcome.status === 'rejected' && toAppError(outcome.reason).kind,
  )
  expect(new Set(reasons)).toEqual(new Set(['invalid']))
  first()
  await nextTurn()
  await nextTurn()
  expect([ends.length, refused.length]).toEqual([1, 0])
  // Nothing is given up any more.
  for (const leave of leaves) leave()
  expect(line.takeTurn).toHaveBeenCalledTimes(2)
})

it('begins at once again when all are made', async () => {
  const pages = new PageTurns(line)
  for (let round = 0; round < 3; round += 1) (await pages.take(STAYS))()
  expect(line.takeTurn).toHaveBeenCalledTimes(3)
})
