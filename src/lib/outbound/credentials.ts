import { Buffer } from 'node:buffer'

/** A string that JSON, logs and error messages never contain. Only `reveal` returns it. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }
}

/**
 * Returns JSON that contains secrets, so that two values can be compared in memory. It must neither
 * be stored nor logged.
 */
export function comparableText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    member instanceof Secret ? member.reveal() : member instanceof Map ? [...member] : member,
  )
}

export type Credentials =
  | { readonly type: 'bearer'; readonly token: Secret }
  | { readonly type: 'basic'; readonly username: string; readonly password: Secret }
  | { readonly type: 'header'; readonly name: string; readonly value: Secret }
  | {
      readonly type: 'headers'
      readonly headers: readonly { readonly name: string; readonly value: Secret }[]
    }

/**
 * Returns the headers with the credentials: RFC 6750 for a bearer, RFC 7617 (UTF-8) for a name with
 * a password.
 */
export function authHeaders(credentials: Credentials | undefined): Record<string, string> {
  switch (credentials?.type) {
    case undefined:
      return {}
    case 'bearer':
      return { authorization: `Bearer ${credentials.token.reveal()}` }
    case 'basic': {
      const pair = `${credentials.username}:${credentials.password.reveal()}`
      return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
    }
    case 'header':
      return { [credentials.name.toLowerCase()]: credentials.value.reveal() }
    case 'headers':
      return Object.fromEntries(
        credentials.headers.map(({ name, value }) => [name.toLowerCase(), value.reveal()]),
      )
  }
}
