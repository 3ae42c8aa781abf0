import { sql } from 'kysely'

/**
 * The outcomes with an index of their own, as literals of SQL: of the others nearly every page of the log has some.
 */
export const RARE_OUTCOMES = [sql.lit('deny'), sql.lit('error'), sql.lit('undefined')]
