import { AppError } from '../../errors.js'
import type { ExitCode } from '../exit-code.js'
import type { Terminal } from '../terminal.js'
import type { JudgeCommandOptions } from './judge.js'

/** Judges one file and prints the report. */
export function judgeFile(file: string, options: JudgeCommandOptions, terminal: Terminal): Promise<ExitCode> {
  void options
  void terminal
  return Promise.reject(new AppError('unavailable', `${file} cannot be judged yet`))
}
