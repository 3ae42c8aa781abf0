import { setImmediate as nextTurn } from 'node:timers/promises'

import { afterEach, describe, expect, it, vi } from 'vitest'

import { WaitingLine } from '../../../src/http/transport/waiting-line.js'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Calls back at the turn of a request of this many bytes, also where it is refused. */
function answerInTurn(line: WaitingLine, bytes: number, answer: (isTooLate: boolean) => void): void {
  const turn = line.takeTurn(bytes)
  if (turn === undefined) answer(false)
  else
    turn.then(
      () => answer(false),
      () => answer(true),
    )
}

/** So many answers in a row took long that this is usual. */
function takeLong(line: WaitingLine): void {
  for (let answer = 0; answer < 5; answer += 1) line.answered(6)
}

describe('requests while connections come', () => {
  it('wait in line, and are answered in order, each once', async () => {
    const line = new WaitingLine()
    expect(line.isOpen).toBe(false)
    const answered: number[] = []
    line.accepted()
    for (let request = 0; request < 100; request += 1) answerInTurn(line, 2, () => answered.push(request))
    expect(answered).toEqual([])
    for (let turn = 0; turn < 1000 && line.isOpen; turn += 1) await nextTurn()
    expect(answered).toEqual(Array.from({ length: 100 }, (_, request) => request))
    expect(line.isOpen).toBe(false)
  })

  it('are answered in a quarter of a millisecond of each turn; one that took longer has the next ones wait', async () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const line = new WaitingLine()
    let answered = 0
    for (let request = 0; request < 10; request += 1) {
      line.accepted()
      answerInTurn(line, 2, () => {
        now += 1
        answered += 1
      })
    }
    for (const expected of [1, 1, 1, 1, 2, 2, 2, 2, 3]) {
      line.accepted()
      await nextTurn()
      expect(answered).toBe(expected)
    }
    await nextTurn()
    expect(answered).toBe(10)
  })

  it('wait the longer the more time is taken by what was begun in line; not for what was before it', async () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const line = new WaitingLine()
    line.spent(50)
    let answered = 0
    line.accepted()
    line.spent(1)
    answerInTurn(line, 2, () => {
      now += 0.1
      answered += 1
    })
    for (const expected of [0, 0, 0, 0, 1]) {
      line.accepted()
      await nextTurn()
      expect(answered).toBe(expected)
    }
  })

  it('do not wait where those in line hold as much as they may', async () => {
    const line = new WaitingLine()
    let waiting = 0
    line.accepted()
    for (; line.isOpen && waiting < 10_000; waiting += 1) answerInTurn(line, 65_536, () => (waiting -= 1))
    expect(waiting).toBe(2048)
    while (waiting > 0) await nextTurn()
    line.accepted()
    expect(line.isOpen).toBe(true)
  })
})

describe('requests that take long', () => {
  it('have those of the same turn wait in line, and what is quick does not', () => {
    const line = new WaitingLine()
    line.answered(0.1)
    expect(line.isOpen).toBe(false)
    takeLong(line)
    expect(line.isOpen).toBe(true)
  })

  it('have the next ones wait within some dozen of them, however little too long they take', () => {
    const line = new WaitingLine()
    let answered = 0
    for (; !line.isOpen && answered < 1000; answered += 1) line.answered(0.4)
    expect(answered).toBeLessThan(100)
  })

  it('have nobody wait where they are one among hundreds of quick ones, as where garbage is collected', () => {
    const line = new WaitingLine()
    for (let request = 1; request < 10_000; request += 1) line.answered(request % 300 === 0 ? 5 : 0.01)
    expect(line.isOpen).toBe(false)
  })

  it('have nobody wait any more behind what is quick again', async () => {
    const line = new WaitingLine()
    takeLong(line)
    while (line.isOpen) await nextTurn()
    line.answered(0.01)
    expect(line.isOpen).toBe(false)
  })

  it('are refused where those before them take over five seconds, as soon as that is known', async () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const line = new WaitingLine()
    takeLong(line)
    const [answered, refused]: [number[], number[]] = [[], []]
    const join = (request: number, takesMs: number): void =>
      answerInTurn(line, 2, (isTooLate) => {
        if (isTooLate) refused.push(request)
        else {
          answered.push(request)
          now += takesMs
        }
      })
    for (let request = 0; request < 2000; request += 1) join(request, 6)
    await nextTurn()
    // That the process stood still for long is no measure.
    now += 10_000
    await nextTurn()
    expect(refused).toEqual([])
    while (refused.length === 0) await nextTurn()
    expect(now).toBeLessThan(11_000)
    expect(refused.at(-1)).toBe(1999)
    expect(refused.length + answered.length).toBeGreaterThan(1000)
    const before = refused.length
    for (let request = 0; request < 2000; request += 1) join(request, 0.01)
    while (line.isOpen) await nextTurn()
    expect(refused.length).toBeGreaterThan(before)
    expect(refused.length + answered.length).toBe(4000)
  })

  it('are not refused where they are quick, however many wait', async () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const line = new WaitingLine()
    line.accepted()
    let answered = 0
    for (let request = 0; request < 10_000; request += 1)
      answerInTurn(line, 2, (isTooLate) => {
        now += 0.1
        answered += isTooLate ? 0 : 1
      })
    while (line.isOpen) await nextTurn()
    expect(answered).toBe(10_000)
  })

  it('are refused where those in line hold as much as they may', async () => {
    const line = new WaitingLine()
    takeLong(line)
    let waiting = 0
    for (; line.isOpen; waiting += 1) answerInTurn(line, 65_536, () => (waiting -= 1))
    expect(line.isFull).toBe(true)
    await expect(line.takeTurn(2)).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 5 })
    while (waiting > 0) await nextTurn()
    expect(line.isFull).toBe(false)
  })

  it('wait for their turn behind promises, too, in one line with all others', async () => {
    const line = new WaitingLine()
    expect(line.takeTurn(2)).toBeUndefined()
    takeLong(line)
    const answered: number[] = []
    for (let request = 0; request < 9; request += 1) {
      if (request % 3 === 0) answerInTurn(line, 2, () => answered.push(request))
      else void line.takeTurn(2)?.then(() => answered.push(request))
    }
    expect(answered).toEqual([])
    while (line.isOpen) await nextTurn()
    expect(answered).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('behind promises have those of the same turn wait, and are answered for 20 ms of each turn', async () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const line = new WaitingLine()
    let answered = 0
    const ask = async (): Promise<void> => {
      await line.takeTurn(2)
      await Promise.resolve()
      now += 6
      answered += 1
    }
    takeLong(line)
    for (let request = 0; request < 12; request += 1) void ask()
    await Promise.resolve()
    expect(answered).toBe(0)
    for (const expected of [4, 8, 12]) {
      await nextTurn()
      expect(answered).toBe(expected)
    }
  })

  it('are refused behind promises, too, where those before them take over five seconds', async () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const line = new WaitingLine()
    takeLong(line)
    const refused: unknown[] = []
    const asked = Array.from({ length: 2000 }, async () => {
      await line.takeTurn(2)
      now += 6
    })
    await Promise.all(asked.map((ask) => ask.catch((error: unknown) => refused.push(error))))
    expect(refused.length).toBeGreaterThan(1000)
    expect(refused[0]).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 5 })
    expect(now).toBeLessThan(6000)
  })
})
