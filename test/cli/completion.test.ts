import { execFileSync } from 'node:child_process'

import { describe, expect, it } from 'vitest'

import { findProgram } from '../support/find-program.js'
import { runTidegate } from '../support/run-tidegate.js'

const bash = findProgram('bash')

/** Returns bash's completions for the last word. */
function offered(script: string, words: readonly string[]): string[] {
  const line = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _tidegate; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync(bash ?? '', ['-c', `${script}\n${line}`], { encoding: 'utf8' })
    .trim()
    .split('\n')
}

describe('tidegate completion', () => {
  it.skipIf(bash === undefined)('completes commands, subcommands and flags in bash', async () => {
    const { exitCode, stdout } = await runTidegate(['completion', 'bash'])
    expect(exitCode).toBe(0)
    expect(offered(stdout, ['tidegate', 'ser'])).toEqual(['serve'])
    expect(offered(stdout, ['tidegate', 'gates', 'app'])).toEqual(['approve'])
    expect(offered(stdout, ['tidegate', 'decisions', 'list', '--out'])).toEqual(['--outcome'])
    expect(offered(stdout, ['tidegate', 'backup', 'folder', '--data'])).toEqual(['--data-dir'])
  })

  it('lists the shells for one that it does not know', async () => {
    const { exitCode, stderr } = await runTidegate(['completion', 'csh'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('there are bash, zsh, fish')
  })
})
