import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { PROGRAM, PROJECT_ROOT } from '../support/project-root.js'

const PAGE = readFileSync(join(PROJECT_ROOT, 'docs/reference/command-line.md'), 'utf8')
/**
 * Commands that need a service, a terminal or a data directory, or whose output depends on the
 * machine.
 */
const ELSEWHERE =
  /tidegate (?:opa|fmt|deps|inspect|serve|eval --bundle|decisions|doctor|backup|restore|audit|exceptions|impact|policies|pipelines|orchestrator|test|build|version|config)\b/

interface Example {
  readonly command: string
  readonly output: string
  readonly exitCode: number
}

/** Code blocks with a prompt and one command, and the exit code named after the block. */
const examples: Example[] = [
  ...PAGE.matchAll(/```\n\$ (?<command>[^\n]+)\n(?<output>[^`]*)```(?:\n\nexit code (?<code>\d))?/g),
]
  .map(({ groups = {} }) => ({
    command: groups['command'] ?? '',
    output: groups['output'] ?? '',
    exitCode: Number(groups['code'] ?? 0),
  }))
  .filter(
    ({ command, output }) => !ELSEWHERE.test(command) && !output.includes('\n$ ') && !output.includes('…'),
  )

describe('the page about the command line', () => {
  it('names every command', async () => {
    const { stdout } = await runTidegate(['--help'])
    const list = stdout.slice(stdout.indexOf('Commands:'))
    const names = [...list.matchAll(/^ {2}(?<name>[a-z][a-z-]+)\b/gm)].map(
      ({ groups }) => groups?.['name'] ?? '',
    )
    expect(names.length).toBeGreaterThan(15)
    expect(
      names.filter((name) => !['help', 'tidegate'].includes(name) && !PAGE.includes(`\`${name}\``)),
    ).toEqual([])
  })

  it('has examples that are run here', () => {
    expect(examples.length).toBeGreaterThanOrEqual(5)
  })

  it.each(examples)('is right about: $command', ({ command, output, exitCode }) => {
    const script = `tidegate() { '${process.execPath}' '${PROGRAM}' "$@"; }\n${command}`
    const ran = spawnSync('sh', ['-c', script], { cwd: PROJECT_ROOT, encoding: 'utf8', timeout: 30_000 })
    expect({ output: ran.stdout + ran.stderr, exitCode: ran.status }).toEqual({ output, exitCode })
  })
})
