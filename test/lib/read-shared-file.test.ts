import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

import { readSharedFile } from '../../src/main/worker-process/worker-policies.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

test.each([0, 1, 8 * 1024 * 1024, 20_000_001])(
  'a file of %i bytes is in shared memory as it is',
  async (length) => {
    const content = 'tidegate '.repeat(Math.ceil(length / 9)).slice(0, length)
    workspace.write({ file: content })
    const bytes = await readSharedFile(join(workspace.path, 'file'))
    expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(Buffer.from(bytes).equals(Buffer.from(content))).toBe(true)
  },
)

test('a file that is not there is an error of the system', async () => {
  await expect(readSharedFile(join(workspace.path, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
})
