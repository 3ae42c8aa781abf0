import { EventEmitter } from 'node:events'

/** A socket whose buffer of answers is full when a test says so. */
export class ScriptedSocket extends EventEmitter {
  readonly written: string[] = []
  writableNeedDrain = false
  readableEnded = false
  destroyed = false
  isPaused = false
  timeoutMs = 0

  write(bytes: string | Buffer): boolean {
    this.written.push(bytes.toString())
    return !this.writableNeedDrain
  }

  pause(): void {
    this.isPaused = true
  }

  setTimeout(ms: number): void {
    this.timeoutMs = ms
  }

  resume(): void {
    this.isPaused = false
  }
}
