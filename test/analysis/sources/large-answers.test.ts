import { afterEach, describe, expect, it } from 'vitest'
import { LargeAnswers } from '../../../src/analysis/sources/large-answers.js'
import { makeServedSources } from '../../support/open-source.js'

const served = makeServedSources('prometheus')
afterEach(() => served.closeAll())

/** Whether it is somebody's turn by now. */
async function hasTurn(taken: Promise<void>): Promise<boolean> {
  return Promise.race([taken.then(() => true), new Promise<boolean>((done) => setImmediate(done, false))])
}

describe('large answers', () => {
  it('have their turns one after the other, in the order in which they became large', async () => {
    const answers = new LargeAnswers()
    const [first, second, third] = [answers.open(), answers.open(), answers.open()]
    const takenSecond = second.take()
    const takenFirst = first.take()
    const takenThird = third.take()
    expect(await hasTurn(takenSecond)).toBe(true)
    expect(await hasTurn(takenFirst)).toBe(false)
    second.end()
    expect(await hasTurn(takenFirst)).toBe(true)
    expect(await hasTurn(takenThird)).toBe(false)
  })

  it('that are given up while they wait hold up nobody', async () => {
    const answers = new LargeAnswers()
    const [first, second, third] = [answers.open(), answers.open(), answers.open()]
    await first.take()
    void second.take()
    const takenThird = third.take()
    second.end()
    expect(await hasTurn(takenThird)).toBe(false)
    first.end()
    expect(await hasTurn(takenThird)).toBe(true)
  })

  it('have the same turn however often they ask, and may end without one', async () => {
    const answers = new LargeAnswers()
    const first = answers.open()
    await first.take()
    await first.take()
    first.end()
    first.end()
    answers.open().end()
    expect(await hasTurn(answers.open().take())).toBe(true)
  })

  it('of one source are all read, and those that are small as well', async () => {
    const text = JSON.stringify({
      status: 'success',
      data: { resultType: 'matrix', result: [] },
      padding: 'x'.repeat(3 * 1024 * 1024),
    })
    const { source } = await served.open((_, response) => response.end(text), {
      maxResponseBytes: 4 * 1024 * 1024,
    })
    const answers = await Promise.all(Array.from({ length: 8 }, () => source.fetchSeries({})))
    expect(answers.map(({ state }) => state)).toEqual(Array<string>(8).fill('empty'))
  })
})
