import './use-full-pipeline.ts'
import '../payments/money.test.ts'
