import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** CPU seconds of a program that runs to its end, those of programs that it started included. Raises where it fails. Needs /proc. */
export async function cpuSecondsOf([program = '', ...args]: readonly string[]): Promise<number> {
  const before = ofChildren()
  const child = spawn(program, args, { stdio: 'ignore' })
  const code = await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject))
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`)
  return ofChildren() - before
}

/** User and system time of those that this process has waited for: fields 16 and 17 of proc(5), behind the name in brackets. */
function ofChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return fields.slice(13, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
}
