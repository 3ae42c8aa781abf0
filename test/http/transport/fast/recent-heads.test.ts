import { describe, expect, it, vi } from 'vitest'

import { RecentHeads } from '../../../../src/http/transport/fast/recent-heads.js'

function request(path: string, headers = ''): Buffer {
  return Buffer.from(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n${headers}\r\n{}`)
}

describe('the heads that were taken last', () => {
  it('are known again byte by byte, those of several callers at once', () => {
    const heads = new RecentHeads()
    const takes = vi.fn(() => true)
    const paths = ['/v1/data/a', '/v1/data/ab', '/v1/data/abc']
    const first = paths.map((path) => heads.read(request(path), takes))
    const second = paths.map((path) => heads.read(request(path), takes))
    expect(first.map((head) => head?.url)).toEqual(paths)
    // Connections have them in common, so that a thousand hold no thousand copies.
    for (const [place, head] of second.entries()) expect(head).toBe(first[place])
    expect(takes).toHaveBeenCalledTimes(paths.length)
  })

  it('are not taken for another of the same length, however many come', () => {
    const heads = new RecentHeads()
    for (let round = 0; round < 500; round += 1) {
      const path = `/v1/data/${String(round % 200).padStart(3, '0')}`
      expect(heads.read(request(path, `Accept: ${'a'.repeat(1 + (round % 150))}\r\n`), () => true)?.url).toBe(
        path,
      )
    }
  })

  it.each(['Authorization: Bearer abc', 'Cookie: a=b', 'X-Odd: 1'])('do not have one with %s', (header) => {
    const heads = new RecentHeads()
    const takes = vi.fn(() => true)
    for (let round = 0; round < 2; round += 1)
      expect(heads.read(request('/v1/data/a', `${header}\r\n`), takes)?.url).toBe('/v1/data/a')
    expect(takes).toHaveBeenCalledTimes(2)
  })

  it('do not know one that was refused, nor half of one', () => {
    const heads = new RecentHeads()
    const takes = vi.fn(() => false)
    for (let round = 0; round < 2; round += 1)
      expect(heads.read(request('/v1/data/a'), takes)).toBeUndefined()
    expect(takes).toHaveBeenCalledTimes(2)
    const whole = request('/v1/data/a')
    expect(heads.read(whole, () => true)?.url).toBe('/v1/data/a')
    expect(heads.read(whole.subarray(0, 30), () => true)).toBeUndefined()
  })
})
