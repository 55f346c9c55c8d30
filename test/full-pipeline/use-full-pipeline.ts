/** Imported before a suite of money, runs it through every module of the package. */
process.env.TURNPIKE_DRILL_PIPELINE = 'full'
// What a pipeline does differs by no engine.
process.env.TURNPIKE_TEST_ENGINE = 'sqlite'
