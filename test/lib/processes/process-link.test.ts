import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { ProcessLink } from '../../../src/lib/processes/process-link.js'
import type { ChannelEnd } from '../../../src/lib/processes/process-link.js'

interface Calls {
  double(value: number): number
  refuse(text: string): never
  never(value: undefined): Promise<void>
}

/**
 * Two ends of one channel. `cut` breaks it for the sender, `end` notifies the first end that the
 * other has gone.
 */
function makeChannel(): { ends: [ChannelEnd, ChannelEnd]; cut: () => void; end: () => void } {
  const [a, b] = [new EventEmitter(), new EventEmitter()]
  let isCut = false
  const endOf = (own: EventEmitter, other: EventEmitter): ChannelEnd => ({
    onMessage: (heard) => own.on('message', heard),
    onGone: (gone) => own.on('gone', gone),
    send: (message, _, sent) => {
      if (isCut) sent(new Error('closed'))
      else queueMicrotask(() => other.emit('message', structuredClone(message)))
    },
  })
  return { ends: [endOf(a, b), endOf(b, a)], cut: () => (isCut = true), end: () => a.emit('gone') }
}

function makeLinks(): { link: ProcessLink<Calls>; end: () => void; cut: () => void } {
  const { ends, cut, end } = makeChannel()
  const ours: Calls = {
    double: (value) => value * 2,
    refuse: (text) => {
      throw new AppError('unavailable', text, { code: 'busy', retryAfterSeconds: 7 })
    },
    never: () => new Promise(() => undefined),
  }
  const other = new ProcessLink(ends[1], ours)
  expect(other).toBeDefined()
  return { link: new ProcessLink<Calls>(ends[0], {}), end, cut }
}

describe('a link to another process', () => {
  test('returns the results of the other process to their callers', async () => {
    const { link } = makeLinks()
    expect(await Promise.all([link.call('double', 2), link.call('double', 5)])).toEqual([4, 10])
  })

  test('rethrows errors of the other process', async () => {
    const { link } = makeLinks()
    await expect(link.call('refuse', 'no')).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'busy',
      message: 'no',
      retryAfterSeconds: 7,
    })
  })

  test('rejects calls to a process that has ended', async () => {
    const { link, end } = makeLinks()
    const waiting = link.call('never', undefined)
    end()
    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(link.call('double', 1)).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(makeCutLink().call('double', 1)).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

function makeCutLink(): ProcessLink<Calls> {
  const { link, cut } = makeLinks()
  cut()
  return link
}
