import { describe, expect, it } from 'vitest'

import { LimitedStreams } from '../../../src/http/pipeline/limited-streams.js'

async function* chunks(count: number): AsyncGenerator<Uint8Array, void> {
  for (let n = 0; n < count; n += 1) yield await Promise.resolve(new Uint8Array(10))
}

const failed = (): void => undefined

describe('streams that are limited in number', () => {
  it('are refused beyond it, and taken again when one has ended or its reader has gone', async () => {
    const streams = new LimitedStreams(2, 'exports')
    const whole = streams.start(chunks(3), failed)
    const left = streams.start(chunks(3), failed)
    expect(() => streams.start(chunks(1), failed)).toThrow('2 exports are running already; try again')
    expect((await new Response(whole).arrayBuffer()).byteLength).toBe(30)
    const third = streams.start(chunks(1), failed)
    expect(() => streams.start(chunks(1), failed)).toThrow('running already')
    await left.cancel()
    await third.cancel()
    streams.start(chunks(1), failed)
    streams.start(chunks(1), failed)
    expect(() => streams.start(chunks(1), failed)).toThrow('running already')
  })
})
