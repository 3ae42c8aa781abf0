import { gunzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { describe, expect, test } from 'vitest'

import { packFiles, unpackOne } from '../../../src/rego/archive/pack-files.js'

const LONGEST = `${'d'.repeat(49)}/${'f'.repeat(50)}`
const FILES: readonly (readonly [string, string | Uint8Array])[] = [
  ['.manifest', '{"roots":[""]}'],
  ['/empty.json', ''],
  ['0/block.rego', 'x'.repeat(512)],
  ['1/more.rego', `${'é'.repeat(400)}\0`],
  ['policy.wasm', new Uint8Array([0, 97, 115, 109, 255])],
  [LONGEST, 'long'],
]

describe('an archive of files', () => {
  test('is, byte for byte, what tar-stream makes of the same files without a time and an owner', async () => {
    const archive = pack()
    for (const [name, content] of FILES)
      archive.entry({ name, mode: 0o644, mtime: new Date(0), uid: 0, gid: 0 }, Buffer.from(content))
    archive.finalize()
    const expected: Buffer[] = []
    for await (const chunk of archive as AsyncIterable<Buffer>) expected.push(chunk)

    for (const level of [0, 6])
      expect(gunzipSync(await packFiles(FILES, level)).equals(Buffer.concat(expected))).toBe(true)
  })

  test('gives each of them back by its name', async () => {
    const archive = await packFiles(FILES, 1)

    for (const [name, content] of FILES)
      expect(await unpackOne(archive, name.replace(/^\//, ''))).toEqual(Buffer.from(content))
  })

  test.each([`${LONGEST}x`, 'é.rego', 'a\nb', ''])(
    'holds no file whose name has no place in it: %j',
    async (name) => {
      await expect(packFiles([[name, '']], 0)).rejects.toMatchObject({ kind: 'internal' })
    },
  )
})
