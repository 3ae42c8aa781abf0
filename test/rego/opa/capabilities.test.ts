import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { beforeAll, expect, test } from 'vitest'

import { inTemporaryDirectory } from '../../../src/lib/temporary-directory.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { buildModule } from '../../../src/rego/compile/build-module.js'
import { compilePolicies } from '../../../src/rego/compile/compile-policies.js'
import { keepBuilds } from '../../../src/rego/compile/kept-builds.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import type { OpaProgram } from '../../../src/rego/opa/find-opa.js'
import { runOpa } from '../../../src/rego/opa/run-opa.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'

const POLICY =
  'package a\n\nimport rego.v1\n\ndeny contains "m" if {\n\tinput.a == 1\n\thttp.send({"url": input.url})\n}\n'

let all: { builtins: { name: string }[] }
beforeAll(async () => {
  const { stdout } = await runOpa(await findOpa({ env: process.env }), ['capabilities', '--current'])
  all = JSON.parse(stdout) as typeof all
})

async function withPolicy<T>(
  text: string,
  run: (policy: string, capabilities: string) => Promise<T>,
): Promise<T> {
  return await inTemporaryDirectory(async (directory) => {
    const [policy, capabilities] = [join(directory, 'a.rego'), join(directory, 'allowed.json')]
    await writeFile(policy, text)
    const builtins = all.builtins.filter(({ name }) => name !== 'http.send')
    await writeFile(capabilities, JSON.stringify({ ...all, builtins }))
    return await run(policy, capabilities)
  })
}

test('a policy with a built-in that the capabilities file leaves out is refused with its location', async () => {
  await withPolicy(POLICY, async (policy, capabilities) => {
    const opa = await findOpa({ env: process.env, capabilities })
    await expect(compilePolicies(opa, [policy])).rejects.toMatchObject({
      kind: 'invalid',
      details: [
        {
          message: `undefined function http.send: ${capabilities} does not allow it. Add it to the capabilities file, or remove the call`,
          location: { file: policy, row: 7, col: 2 },
        },
      ],
    })
  })
})

test('other policies compile with the capabilities file', async () => {
  await withPolicy(
    'package a\n\nimport rego.v1\n\ndeny contains upper("m") if not data.b[input.x].y\n',
    async (policy, capabilities) => {
      const opa = await findOpa({ env: process.env, capabilities })
      expect((await compilePolicies(opa, [policy])).wasm).toBeDefined()
    },
  )
})

test.each([
  ['', /allowed\.json is not JSON/],
  ['{}', /allowed\.json lists no "builtins"/],
])('a capabilities file that reads %j is refused by its name', async (text, message) => {
  await withPolicy(POLICY, async (_, capabilities) => {
    await writeFile(capabilities, text)
    await expect(findOpa({ env: process.env, capabilities })).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(message) as string,
    })
  })
})

test('a capabilities file that is missing is refused by its name', async () => {
  await expect(findOpa({ env: process.env, capabilities: 'none.json' })).rejects.toThrow(
    'capabilities file none.json not found. Check policies.capabilities',
  )
})

test('a kept build is not used with other capabilities', async () => {
  await withPolicy(POLICY, async (policy, capabilities) => {
    await inTemporaryDirectory(async (folder) => {
      const build = keepBuilds(folder, 'test', buildModule)
      const compile = async (opa: OpaProgram): Promise<unknown> =>
        await loadSnapshot(
          { directories: [policy], bundles: [] },
          {
            findOpa: () => Promise.resolve(opa),
            builtins: hostBuiltins,
            limits: DEFAULT_LIMITS,
            buildModule: build,
          },
        )
      await compile(await findOpa({ env: process.env }))
      expect(await readdir(folder)).toHaveLength(1)
      const restricted = await findOpa({ env: process.env, capabilities })
      await expect(compile(restricted)).rejects.toMatchObject({ kind: 'invalid' })
    })
  })
})
