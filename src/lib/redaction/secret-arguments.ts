import { endsLikeSecret, isSecretUnder } from './secret-names.js'

/** Programs with an option for a password that its name does not show. */
const MYSQL = /(?:^|\/)(?:mysql\w*|mariadb[\w-]*|sshpass)$/
const LOGS_IN = /(?:^|\/)(?:az|buildah|cf|crane|docker|helm|nerdctl|oc|oras|podman|skopeo)$/
/** Programs with a one-letter option for a password. */
const PASSWORD_OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)redis-cli$/, '-a'],
  [/(?:^|\/)ldap(?:search|modify|add|delete|passwd|whoami)$/, '-w'],
]
const CURL = /(?:^|\/)curl$/
const OPTION = /^--?[\w-]{1,80}$/
const USER_OPTION = /^(?:-u|--user|-U|--proxy-user)$/
/** A plain word, as in a list of required members. Passwords usually contain other characters. */
const WORD = /^[A-Za-z_-]*$/

/** Index of a secret in a list, and the name to report. */
interface SecretElement {
  readonly index: number
  readonly name: string
}

/**
 * Finds elements of a list that are secret because of earlier ones: the value in `["password",
 * "…"]`, and arguments such as `["--password", "…"]`, `["curl", "-u", "ana:…"]`, `["mysql", "-p…"]`
 * and `["docker", "login", "-p", "…"]`. Elements that are not strings are undefined.
 */
export function secretElements(elements: readonly (string | undefined)[]): SecretElement[] {
  const found: SecretElement[] = []
  const [first = '', second] = elements
  if (elements.length === 2 && second !== undefined && endsLikeSecret(first) && !WORD.test(second))
    found.push({ index: 1, name: first })
  const takesPassword = MYSQL.test(first)
  const takesUser = CURL.test(first)
  const passwordOption = passwordOptionOf(first, elements)
  elements.forEach((element, index) => {
    if (element === undefined || index === 0) return
    const before = elements[index - 1] ?? ''
    if (before === passwordOption) found.push({ index, name: before })
    else if (OPTION.test(before) && isValueOf(before, element, takesUser)) found.push({ index, name: before })
    else if (takesPassword && /^-p./.test(element)) found.push({ index, name: '-p' })
  })
  return found
}

function passwordOptionOf(program: string, elements: readonly (string | undefined)[]): string | undefined {
  if (LOGS_IN.test(program) && elements.includes('login')) return '-p'
  return PASSWORD_OPTIONS.find(([pattern]) => pattern.test(program))?.[1]
}

function isValueOf(option: string, value: string, takesUser: boolean): boolean {
  if (takesUser && USER_OPTION.test(option)) return value.includes(':')
  return isSecretUnder(option, value) && !option.endsWith('-stdin') && !value.startsWith('-')
}
