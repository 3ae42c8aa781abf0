/** What a command sees of the world around it. */
export interface Terminal {
  /** Writes results to standard output. */
  readonly out: (text: string) => void
  /** Writes part of a long result to standard output; resolves when it takes more, to false when nobody reads it any more. */
  readonly outBytes: (bytes: Uint8Array) => Promise<boolean>
  /** Writes what is not the result to standard error. */
  readonly err: (text: string) => void
  readonly readStdin: () => Promise<Buffer>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether standard input is a person at a keyboard. */
  readonly isInteractive: boolean
  /** Whether a person watches standard error, so that progress may be shown there. */
  readonly showsProgress: boolean
  /** How many columns standard output has; undefined where it is no terminal. */
  readonly columns?: number | undefined
  /** Whether standard output takes colours. */
  readonly hasColours: boolean
}

/** The terminal of this process. Colours are for terminals only, and for none with NO_COLOR (https://no-color.org). */
export function systemTerminal(): Terminal {
  endQuietlyWithoutReader(process.stdout)
  return {
    out: (text) => process.stdout.write(text),
    outBytes,
    err: (text) => process.stderr.write(text),
    readStdin,
    env: process.env,
    isInteractive: process.stdin.isTTY,
    showsProgress: process.stderr.isTTY,
    columns: process.stdout.isTTY ? process.stdout.columns : undefined,
    hasColours: process.stdout.isTTY && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb',
  }
}

/** What went wrong with standard output is told by `endQuietlyWithoutReader`. */
function outBytes(bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => process.stdout.write(bytes, (error) => resolve(!(error instanceof Error))))
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Buffer))
  return Buffer.concat(chunks)
}

/** `tidegate … | head` closes the pipe before everything is written: that is no error. */
function endQuietlyWithoutReader(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}
