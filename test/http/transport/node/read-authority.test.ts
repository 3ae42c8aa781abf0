import { expect, it } from 'vitest'

import { readAuthority } from '../../../../src/http/transport/node/standard-server.js'

const read = (url: string, hosts: string[], httpVersion = '1.1') =>
  readAuthority({
    url,
    httpVersion,
    rawHeaders: [
      'X-Host',
      'z',
      ...hosts.flatMap((host, at) => [['Host', 'HOST'][at] ?? '', host]),
      'hos',
      'z',
    ],
  })

it.each([
  ['/a?b', 'x:1', { url: '/a?b', host: 'x:1' }],
  ['http://y:2/a?b=http://z', 'x', { url: '/a?b=http://z', host: 'y:2' }],
  ['HTTPS://y', 'x', { url: '/', host: 'y' }],
  ['http://[::1]:80?b', 'x', { url: '/?b', host: '[::1]:80' }],
  ['//y/a', 'x', { url: '//y/a', host: 'x' }],
  ['*', 'x', { url: '*', host: 'x' }],
])('%s with the host %s', (url, host, authority) => {
  expect(read(url, [host])).toEqual(authority)
})

it.each(['http:///a', 'http://', 'http:a', 'http://ana:x@y/a', 'http://@y'])('%s names no host', (url) => {
  expect(() => read(url, ['x'])).toThrow('names no host')
})

it('takes one Host header, which only HTTP/1.0 may leave out', () => {
  expect(() => read('/', [])).toThrow('no Host')
  expect(() => read('/', ['x', 'x'])).toThrow('more than one Host')
  expect(() => read('/', ['x', 'y'], '1.0')).toThrow('more than one Host')
  expect(read('/', [], '1.0')).toEqual({ url: '/', host: undefined })
})
