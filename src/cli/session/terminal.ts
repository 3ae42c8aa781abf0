/** The environment of a command. */
export interface Terminal {
  /** Writes results to standard output. */
  readonly out: (text: string) => void
  /**
   * Writes a part of a long result. Resolves when more can be written, to false if the pipe is
   * closed.
   */
  readonly outBytes: (bytes: Uint8Array) => Promise<boolean>
  /** Writes everything else to standard error. */
  readonly err: (text: string) => void
  readonly readStdin: () => Promise<Buffer>
  readonly env: Readonly<Record<string, string | undefined>>
  /** True if the process runs this command only and ends with it. */
  readonly ownsProcess: boolean
  /** True if standard input is a terminal. */
  readonly isInteractive: boolean
  /** True if standard error is a terminal, which shows progress. */
  readonly showsProgress: boolean
  /** Columns of standard output; undefined if it is no terminal. */
  readonly columns?: number | undefined
  /** True if standard output supports colours. */
  readonly hasColours: boolean
}

/**
 * Returns the terminal of this process. Colours require a terminal without NO_COLOR
 * (https://no-color.org).
 */
export function systemTerminal(): Terminal {
  endQuietlyWithoutReader(process.stdout)
  return {
    out: (text) => process.stdout.write(text),
    outBytes,
    err: (text) => process.stderr.write(text),
    readStdin,
    env: process.env,
    ownsProcess: true,
    isInteractive: process.stdin.isTTY,
    showsProgress: process.stderr.isTTY,
    columns: process.stdout.isTTY ? process.stdout.columns : undefined,
    hasColours: process.stdout.isTTY && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb',
  }
}

/** `endQuietlyWithoutReader` handles write errors. */
function outBytes(bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => process.stdout.write(bytes, (error) => resolve(!(error instanceof Error))))
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Buffer))
  return Buffer.concat(chunks)
}

/** Ignores a closed pipe, such as in `tidegate … | head`. */
function endQuietlyWithoutReader(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}
