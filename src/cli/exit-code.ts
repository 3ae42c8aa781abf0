/** How a command ended, for the shell. */
export const EXIT = {
  fine: 0,
  /** A pipeline was denied, or a test failed. */
  denied: 1,
  /** Wrong use, or something could not be done. */
  error: 2,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
