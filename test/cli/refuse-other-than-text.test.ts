import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

import { requireText } from '../../src/cli/input/read-document.js'

test.each([
  [gzipSync('a line'), 'app.log is compressed; unpack it with gunzip'],
  [Buffer.from('\ufeffa line', 'utf16le'), 'app.log is UTF-16'],
])('%#: says how to make text of it', (bytes, says) => {
  expect(() => requireText(bytes, 'app.log')).toThrow(says)
})

test.each(['', 'a', '{"content": 1}', '\ufeffa line'])('takes %j', (text) => {
  expect(() => requireText(Buffer.from(text), 'app.log')).not.toThrow()
})
