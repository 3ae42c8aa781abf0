import { spawn } from 'node:child_process'

import { waitedForSeconds } from '../process-tree.js'

/** CPU seconds of a program that runs to its end, those of programs that it started included. Raises where it fails. Needs /proc. */
export async function cpuSecondsOf([program = '', ...args]: readonly string[]): Promise<number> {
  const before = waitedForSeconds()
  const child = spawn(program, args, { stdio: 'ignore' })
  const code = await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject))
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`)
  return waitedForSeconds() - before
}
