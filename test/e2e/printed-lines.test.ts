import { afterAll, describe, expect, test } from 'vitest'

import { newerOpa, olderOpa } from '../support/compilers.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const COMPILERS = [
  ['OPA 0.70', olderOpa()],
  ['OPA 1.x (TEST_OPA_1)', newerOpa()],
] as const

for (const [name, opa] of COMPILERS) describePrinting(name, opa)

function describePrinting(name: string, opa: string | undefined): void {
  describe.skipIf(opa === undefined)(`what policies print, compiled by ${name}`, () => {
    const workspace = makeWorkspace({
      'policies/p.rego': `package p

import rego.v1

deny contains "no" if {
	print("asked by", input.user, input.nobody, {1, "a"})
	not input.user
}

slowly := count([1 | print("slow", input.user); some i in numbers.range(1, 300); some j in numbers.range(1, 300)])
`,
      'policies/p_test.rego': `package p_test

import rego.v1

test_passes if print("it passes")
test_fails if {
	print("it fails")
	false
}
`,
    })
    const { path: cwd } = workspace
    afterAll(workspace.remove)
    const program = opa ?? ''

    test('is on standard error of eval, and not in the answer', async () => {
      const args = [
        'eval',
        '--policies',
        'policies',
        '--opa',
        program,
        '--entrypoint',
        'p/deny',
        '--input',
        '-',
      ]
      expect(await runTidegate(args, { cwd, stdin: '{"user":"ana"}' })).toMatchObject({
        stdout: '{"result":[]}\n',
        stderr: expect.stringContaining('asked by ana <undefined> {1, "a"}\n') as unknown,
      })
    })

    test('is next to failing tests, and with --verbose next to all', async () => {
      const run = ['test', 'policies', '--opa', program]
      const { stdout } = await runTidegate(run, { cwd })
      expect(stdout).toContain('it fails')
      expect(stdout).not.toContain('it passes')
      expect((await runTidegate([...run, '--verbose'], { cwd })).stdout).toMatch(/test_passes[^]*it passes/)
    })

    test.each([
      ['debug', ['asked by ana <undefined> {1, "a"}', 'slow ana']],
      ['info', []],
    ])('reaches the log of a service at log.level %s', async (level, lines) => {
      const config = { log: { level }, policies: { opa: program, limits: { sliceMs: 5 } } }
      const service = await startTidegate({ workspace, config, dataDir: `data-${level}` })
      const ask = (rule: string) =>
        fetch(`${service.url}/v1/data/p/${rule}`, { method: 'POST', body: '{"input":{"user":"ana"}}' })
      const printed = () =>
        service.log().flatMap(({ printed: line }) => (typeof line === 'string' ? [line] : []))
      try {
        expect(await (await ask('deny')).json()).toMatchObject({ result: [] })
        expect(await (await ask('slowly')).json()).toMatchObject({ result: 90_000 })
        const seen = await waitUntil(
          () => (printed().length >= lines.length ? printed() : undefined),
          () => `only ${printed().length} lines were printed`,
        )
        expect(seen).toEqual(lines)
      } finally {
        await service.end('SIGTERM')
      }
    })
  })
}
