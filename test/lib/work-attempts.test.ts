import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { JournaledAttempts, WORK_SUSPENDED } from '../../src/lib/work-attempts.js'
import { temporaryFolder } from '../support/decisions.js'

const WORK = { kind: 'parcel', key: '17' }
const OTHER = { kind: 'parcel', key: '18' }
const never = (): Promise<void> => new Promise(() => undefined)

/** A journal as a process finds it; the one before has ended without a word. */
function open(path = join(temporaryFolder(), 'unfinished.jsonl')) {
  const attempts = new JournaledAttempts(path)
  onTestFinished(() => attempts.close())
  return { attempts, path }
}

/** Simulates a process that ended this many times during its work. */
async function afterDeaths(count: number, work = WORK): Promise<string> {
  const { path } = open()
  for (let death = 0; death < count; death++) {
    await new Promise<void>((begun) => {
      void open(path).attempts.run(work, () => {
        begun()
        return never()
      })
    })
  }
  return path
}

describe('work that ended the process', () => {
  it('is started once more, and then suspended with a reason', async () => {
    const { attempts } = open(await afterDeaths(1))
    expect(attempts.suspended()).toEqual([])
    expect(await attempts.run(WORK, () => Promise.resolve('done'))).toBe('done')
    const twice = open(await afterDeaths(2)).attempts
    await expect(twice.run(WORK, never)).rejects.toMatchObject({ code: WORK_SUSPENDED })
    expect(twice.suspended()).toMatchObject([
      { ...WORK, reason: expect.stringMatching(/ended 2 times/) as unknown },
    ])
    expect(await twice.run(OTHER, () => Promise.resolve('other'))).toBe('other')
  })

  it('restarts its count after a success, a failure or a reset', async () => {
    const path = await afterDeaths(1)
    const { attempts } = open(path)
    await expect(attempts.run(WORK, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(open(path).attempts.unfinished(WORK)).toBe(0)
    const twice = open(await afterDeaths(2))
    expect(twice.attempts.forget(WORK)).toBe(true)
    expect(twice.attempts.forget(WORK)).toBe(false)
    expect(await open(twice.path).attempts.run(WORK, () => Promise.resolve('done'))).toBe('done')
  })

  it('counts the death of its thread as well', async () => {
    const { attempts } = open()
    const lost = new Error('lost')
    const run = () =>
      attempts.run(
        WORK,
        () => Promise.reject(lost),
        (error) => error === lost,
      )
    await expect(run()).rejects.toBe(lost)
    await expect(run()).rejects.toBe(lost)
    await expect(run()).rejects.toMatchObject({ code: WORK_SUSPENDED })
  })

  it('is done one after the other with others of the kind, so that the next death convicts one', async () => {
    const { path } = open()
    const before = open(path).attempts
    for (const work of [WORK, OTHER]) void before.run(work, never)
    const { attempts } = open(path)
    let finish = (): void => undefined
    const order: string[] = []
    const first = attempts.run(WORK, () => {
      order.push('first')
      return new Promise<void>((resolve) => (finish = resolve))
    })
    const second = attempts.run(OTHER, () => Promise.resolve(order.push('second')))
    const fresh = attempts.run({ kind: 'parcel', key: '19' }, () => Promise.resolve(order.push('fresh')))
    await fresh
    expect([...order].sort()).toEqual(['first', 'fresh'])
    finish()
    await Promise.all([first, second])
    expect(order.at(-1)).toBe('second')
    expect(attempts.suspended()).toEqual([])
  })

  it('is remembered though a line of the file is cut off, and costs no start', async () => {
    const path = await afterDeaths(2)
    appendFileSync(path, '[1,"parcel","1')
    expect(open(path).attempts.suspended()).toHaveLength(1)
    writeFileSync(path, Buffer.from([0, 255, 10, 34]))
    expect(open(path).attempts.suspended()).toEqual([])
  })

  it('takes a bounded file, however much work there is', async () => {
    const { attempts, path } = open(await afterDeaths(2))
    for (let key = 0; key < 30_000; key++) {
      await attempts.run({ kind: 'parcel', key: `${key} ${'x'.repeat(20)}` }, () => Promise.resolve())
    }
    expect(readFileSync(path).length).toBeLessThan(1.2 * 1024 * 1024)
    expect(open(path).attempts.suspended()).toHaveLength(1)
  })

  it('names the file if the journal cannot be read', () => {
    const folder = temporaryFolder()
    expect(() => new JournaledAttempts(folder)).toThrow(
      `cannot read ${folder}, which records unfinished work (EISDIR`,
    )
  })
})
