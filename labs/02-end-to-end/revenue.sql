/* dashboard: revenue, query: by_supplier */
SELECT supplier, sum(total_price) AS total FROM lake.default.supplier_stats GROUP BY supplier ORDER BY total DESC
