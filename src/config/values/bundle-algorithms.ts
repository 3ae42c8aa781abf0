export const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const
export const PUBLIC_ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512'] as const),
  ...(['ES256', 'ES384', 'ES512'] as const),
  ...(['PS256', 'PS384', 'PS512'] as const),
]

/**
 * Algorithms for signing bundles. In a separate file, because the schema of their section would
 * load zod in every command.
 */
export const BUNDLE_ALGORITHMS: readonly string[] = [...SECRET_ALGORITHMS, ...PUBLIC_ALGORITHMS]
